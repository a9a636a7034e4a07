import { type JSX, Show } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { useMinutes } from '../../../kit/now.ts'
import { words } from '../../../kit/words/words.ts'
import { Time } from '../../../ui/Time.tsx'

/** When it comes round again. */
export function NextDue(props: { schedule: Schedule }): JSX.Element {
  const now = useMinutes()
  return (
    <Show when={props.schedule.nextDueAt} fallback="–">
      {(at) => (
        <Show when={at() > now()} fallback={words().automations.schedule.dueNow}>
          <Time at={at()} />
        </Show>
      )}
    </Show>
  )
}
