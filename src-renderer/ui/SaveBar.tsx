import { type JSX, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'

/** Stays in sight at the bottom of a form, so that a long one can be saved from anywhere in it. */
export function SaveBar(props: {
  /** How it stands: what is wrong, what is not saved, that it was saved. */
  status: string
  isProblem: boolean
  submit: string
  canSubmit: boolean
  isBusy: boolean
  /** Absent: there is nothing to take back. */
  onCancel?: () => void
}): JSX.Element {
  return (
    <div class="sticky bottom-0 z-10 -mx-2 mt-4 flex flex-wrap items-center gap-3 border-t border-line bg-canvas px-2 py-3">
      <p class={`min-w-0 flex-1 text-sm ${props.isProblem ? 'text-bad' : 'text-ink-3'}`} role="status">
        {props.status}
      </p>
      <Show when={props.onCancel}>{(cancel) => <Button onClick={() => cancel()()}>{t('common.cancel')}</Button>}</Show>
      <Button type="submit" variant="primary" busy={props.isBusy} disabled={!props.canSubmit}>
        {props.submit}
      </Button>
    </div>
  )
}
