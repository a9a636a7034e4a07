import { createSignal, createUniqueId, type JSX } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'
import { ConfirmDialog } from './ConfirmDialog.tsx'
import { Dialog, type DialogProps } from './Dialog.tsx'

/** A dialog with fields. Its button, or Enter, sends them. It does not lose what was typed by Escape or a click beside it. */
export function FormDialog(
  props: Pick<DialogProps, 'title' | 'description' | 'size' | 'onClose'> & {
    /** The label of the button that sends the fields. */
    submit: string
    onSubmit: () => void
    isRunning: boolean
    /** Replaces the button that closes the dialog. */
    cancel?: JSX.Element
    /** Another action, on the other side. */
    aside?: JSX.Element
    children: JSX.Element
  },
): JSX.Element {
  const formId = createUniqueId()
  let isTouched = false
  const [isAsking, setAsking] = createSignal(false)
  const mayClose = (by: 'escape' | 'click beside') => {
    if (by === 'click beside' || props.isRunning) return false
    if (isTouched) setAsking(true)
    return !isTouched
  }
  return (
    <>
      <Dialog
        open
        mayClose={mayClose}
        size={props.size}
        onClose={props.onClose}
        title={props.title}
        description={props.description}
        actions={
          <>
            {props.aside}
            {props.cancel ?? <Button onClick={() => props.onClose()}>{t('common.cancel')}</Button>}
            <Button variant="primary" type="submit" form={formId} busy={props.isRunning}>
              {props.submit}
            </Button>
          </>
        }
      >
        <form
          id={formId}
          novalidate
          class="flex flex-col gap-4"
          onInput={() => (isTouched = true)}
          onSubmit={(event) => {
            event.preventDefault()
            props.onSubmit()
          }}
        >
          {props.children}
        </form>
      </Dialog>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('common.form.unsavedTitle')}
        confirm={t('common.form.discard')}
        tone="bad"
        onConfirm={() => props.onClose()}
      >
        {t('common.form.unsavedText')}
      </ConfirmDialog>
    </>
  )
}
