import { createUniqueId, type JSX } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'
import { Dialog, type DialogProps } from './Dialog.tsx'

/** A dialog that asks for something: fields, a way out, and one button that sends them, as Enter does. */
export function FormDialog(
  props: Pick<DialogProps, 'title' | 'description' | 'size' | 'onClose'> & {
    /** What the button says that sends it. */
    submit: string
    onSubmit: () => void
    isRunning: boolean
    /** In place of the button that closes it. */
    cancel?: JSX.Element
    /** Something else that can be done, on the other side. */
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
