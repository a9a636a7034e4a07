import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import { AUTO_ORDER } from '../../../src-runner/contract/channels.ts'
import type { ScheduleNotifyVia } from '../../../src-runner/contract/schedules.ts'
import type { NotifyVia } from '../../../src-runner/contract/triggers.ts'
import { useChannels } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Select } from '../../ui/Select.tsx'

/** Whether to notify about successful runs, and through which of the agent's channels. */
export function NotifyField(props: {
  agentId: string | null
  isOn: boolean
  via: ScheduleNotifyVia
  /** Whether several channels may be chosen. */
  several?: true
  onIsOn: (isOn: boolean) => void
  onVia: (via: ScheduleNotifyVia) => void
  problem: string | null
}): JSX.Element {
  const channels = useChannels(() => props.agentId)
  const connected = () =>
    (channels.data?.channels ?? []).filter(
      ({ agentId, enabled, status }) => agentId === props.agentId && enabled && status !== 'logged_out',
    )
  const kinds = () => AUTO_ORDER.filter((kind) => connected().some((channel) => channel.kind === kind))
  const first = (): NotifyVia => [props.via].flat()[0]!
  const others = () => (props.several && first() !== 'auto' ? kinds().filter((kind) => kind !== first()) : [])
  const isChosen = (kind: NotifyVia) => [props.via].flat().includes(kind)
  /** One channel is no list. */
  const choose = (chosen: NotifyVia[]) => props.onVia(chosen.length === 1 ? chosen[0]! : (chosen as Exclude<NotifyVia, 'auto'>[]))
  const hasNone = () => channels.data !== undefined && kinds().length === 0
  const options = () => {
    const offered: NotifyVia[] = ['auto', ...kinds()]
    // A chosen channel that is gone stays listed until another is chosen.
    const shown = offered.includes(first()) ? offered : [...offered, first()]
    return shown.map((via) => ({ value: via, label: via === 'auto' ? t('automations.notify.auto') : t(`automations.notify.viaOf.${via}`) }))
  }
  return (
    <div class="flex flex-col gap-3">
      <Checkbox
        label={t('automations.notify.label')}
        hint={t('automations.notify.hint')}
        checked={props.isOn}
        onChecked={props.onIsOn}
        // It can be turned off even when the channel is gone.
        disabled={hasNone() && !props.isOn}
      />
      <Show when={hasNone()}>
        <p class="ml-6.5 text-xs text-ink-2">
          {t('automations.notify.noChannel')}{' '}
          <A href="/channels" class="font-medium text-accent-ink underline underline-offset-2">
            {t('automations.notify.connect')}
          </A>
        </p>
      </Show>
      <Show when={props.isOn && !hasNone()}>
        <Select class="ml-6.5 max-w-72" label={t('automations.notify.via')} options={options()} value={first()} onValue={props.onVia} />
        <For each={others()}>
          {(kind) => (
            <div class="ml-6.5">
              <Checkbox
                label={t('automations.notify.also', { service: t(`automations.notify.viaOf.${kind}`) })}
                checked={isChosen(kind)}
                onChecked={(checked) => choose([first(), ...others().filter((one) => (one === kind ? checked : isChosen(one)))])}
              />
            </div>
          )}
        </For>
      </Show>
      <Show when={props.problem}>
        {(problem) => (
          <p role="alert" class="ml-6.5 text-xs text-bad">
            {problem()}
          </p>
        )}
      </Show>
    </div>
  )
}
