import { createUniqueId, type JSX } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'
import { Dialog, type DialogProps } from './Dialog.tsx'

/** A dialog with fields. Its button, or Enter, sends them. */
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
  return (
    <Dialog
      open
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
        onSubmit={(event) => {
          event.preventDefault()
          props.onSubmit()
        }}
      >
        {props.children}
      </form>
    </Dialog>
  )
}
