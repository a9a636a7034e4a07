import { type JSX, Show } from 'solid-js'
import { sentenceOf } from '../../api/problem.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { UnsavedGuard } from '../../ui/UnsavedGuard.tsx'
import type { Form } from './use-form.ts'

/** A form with its save bar, which stays in sight while a long form scrolls. Leaving with unsaved changes asks first. */
export function EditorForm<F extends object>(props: {
  form: Form<F>
  /** A new thing can be saved as it is; a stored one only with changes. */
  isNew: boolean
  submit: string
  isBusy: boolean
  onSave: () => void
  onCancel?: () => void
  /** In the save bar while there is nothing else to say. */
  note?: string
  describeTrouble?: (thrown: unknown) => string
  children: JSX.Element
}): JSX.Element {
  const problem = () => {
    const { problemCount, trouble } = props.form
    if (problemCount() > 0) return t('common.form.invalid', { count: problemCount() })
    return trouble() === null ? null : (props.describeTrouble ?? sentenceOf)(trouble())
  }
  const standing = () => {
    const { isDirty, isSaved, isStale } = props.form
    if (isStale()) return t('common.form.changedElsewhere')
    if (isSaved()) return t('common.form.saved')
    return props.note ?? (isDirty() ? t('common.form.unsaved') : '')
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        props.onSave()
      }}
    >
      {props.children}
      <div class="sticky bottom-0 z-10 -mx-2 mt-4 flex flex-wrap items-center gap-3 border-t border-line bg-canvas px-2 py-3">
        <p
          class={`min-w-0 flex-1 text-sm max-sm:basis-full max-sm:empty:basis-0 ${problem() === null ? 'text-ink-3' : 'text-bad'}`}
          role="status"
        >
          {problem() ?? standing()}
        </p>
        <div class="ml-auto flex flex-wrap gap-3">
          <Show when={props.onCancel}>{(cancel) => <Button onClick={() => cancel()()}>{t('common.cancel')}</Button>}</Show>
          <Button type="submit" variant="primary" busy={props.isBusy} disabled={!props.isNew && !props.form.isDirty()}>
            {props.submit}
          </Button>
        </div>
      </div>
      <UnsavedGuard isDirty={props.form.isDirty} title={t('common.form.unsavedTitle')} leave={t('common.form.discard')}>
        {t('common.form.unsavedText')}
      </UnsavedGuard>
    </form>
  )
}
