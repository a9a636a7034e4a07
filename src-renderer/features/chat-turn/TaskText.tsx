import { createSignal, Show } from 'solid-js'
import { t } from '../../lib/language.ts'
import { RawText } from './RawText.tsx'

const FOLD_CHARS = 900

type Props = {
  /** The agent's input. */
  given: string
  /** The person's own text, or null when the agent's input adds nothing to it. */
  plain: string | null
  /** No agent has received it yet. */
  isPreview?: boolean
}

/** The person's own text of a task. The agent's whole input is shown on request. */
export function TaskText(props: Props) {
  const [isExpanded, setExpanded] = createSignal(false)
  const [showsGiven, setShowsGiven] = createSignal(false)
  const from = (): 'automations.webhook.previewGiven' | 'job' => (props.isPreview ? 'automations.webhook.previewGiven' : 'job')
  const text = () => props.plain ?? props.given
  const isLong = () => text().length > FOLD_CHARS
  return (
    <>
      <p class="text-md wrap-anywhere whitespace-pre-wrap text-ink">
        {isLong() && !isExpanded() ? `${text().slice(0, FOLD_CHARS)}…` : text()}
      </p>
      <div class="mt-2 flex flex-wrap gap-x-4 gap-y-1 empty:hidden">
        <Show when={isLong()}>
          <TaskSwitch isOn={isExpanded()} toggle={() => setExpanded(!isExpanded())} on={t('job.showWholeTask')} off={t('job.showLess')} />
        </Show>
        <Show when={props.plain !== null}>
          <TaskSwitch
            isOn={showsGiven()}
            toggle={() => setShowsGiven(!showsGiven())}
            on={t(`${from()}.showGiven`)}
            off={t(`${from()}.hideGiven`)}
          />
        </Show>
      </div>
      <Show when={props.plain !== null && showsGiven()}>
        <div class="mt-3 flex flex-col gap-2">
          <p class="text-xs text-ink-3">{t(`${from()}.givenWhy`)}</p>
          <RawText label={t(`${from()}.given`)} text={props.given} />
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
