import { createSignal, Show } from 'solid-js'
import type { Job } from '../../../src-runner/contract/jobs.ts'
import { words } from '../../kit/words/words.ts'
import { RawText } from '../../turn/RawText.tsx'

const FOLD_CHARS = 900

/** The words that a person knows; what is put around them for the agent is shown on request. */
export function TaskText(props: { job: Job }) {
  const [isWhole, setWhole] = createSignal(false)
  const [showsGiven, setShowsGiven] = createSignal(false)
  const text = () => props.job.plainTask ?? props.job.task
  const isLong = () => text().length > FOLD_CHARS
  return (
    <>
      <p class="text-md wrap-anywhere whitespace-pre-wrap text-ink">
        {isLong() && !isWhole() ? `${text().slice(0, FOLD_CHARS)}…` : text()}
      </p>
      <div class="mt-2 flex flex-wrap gap-x-4 gap-y-1 empty:hidden">
        <Show when={isLong()}>
          <TaskSwitch isOn={isWhole()} toggle={() => setWhole(!isWhole())} on={words().job.showWholeTask} off={words().job.showLess} />
        </Show>
        <Show when={props.job.plainTask !== null}>
          <TaskSwitch
            isOn={showsGiven()}
            toggle={() => setShowsGiven(!showsGiven())}
            on={words().job.showGiven}
            off={words().job.hideGiven}
          />
        </Show>
      </div>
      <Show when={props.job.plainTask !== null && showsGiven()}>
        <div class="mt-3 flex flex-col gap-2">
          <p class="text-xs text-ink-3">{words().job.givenWhy}</p>
          <RawText label={words().job.given} text={props.job.task} />
        </div>
      </Show>
    </>
  )
}

function TaskSwitch(props: { isOn: boolean; toggle: () => void; on: string; off: string }) {
  return (
    <button
      type="button"
      class="text-xs font-medium text-accent-ink hover:underline"
      aria-expanded={props.isOn}
      onClick={() => props.toggle()}
    >
      {props.isOn ? props.off : props.on}
    </button>
  )
}
