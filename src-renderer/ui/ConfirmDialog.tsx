// Importing Kobalte's AlertDialog replaces the Content of its Dialog object, which would make every dialog an alert dialog.
import { Dialog as Kobalte } from '@kobalte/core/dialog'
import { createComputed, createMemo, createSignal, type JSX, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { createDialogFocus } from './dialog-focus.ts'
import { Button } from './Button.tsx'
import { failureText } from '../lib/failure-text.ts'

export type ConfirmDialogProps = {
  open: boolean
  onClose: () => void
  /** Names the thing: "Delete the agent Release watcher?" */
  title: string
  children?: JSX.Element
  /** The verb, not "OK". */
  confirm: string
  /** Left out: "Cancel". */
  cancel?: string
  tone?: 'plain' | 'bad'
  /** When it resolves, the dialog closes. When it rejects, the dialog shows why and stays open. */
  onConfirm: () => Promise<unknown> | void
  /** What is shown of an error of `onConfirm`. */
  describeError?: (thrown: unknown) => JSX.Element
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  // Cancel gets the focus, so that pressing Enter by habit deletes nothing.
  const focus = createDialogFocus((dialog) => dialog.querySelector('button'))
  const [busy, setBusy] = createSignal(false)
  const [failure, setFailure] = createSignal<{ thrown: unknown } | null>(null)
  // The failure may be about another thing than the one the dialog now opens for.
  const isOpen = createMemo(() => props.open)
  createComputed(() => isOpen() && setFailure(null))
  /** While the request runs, the dialog stays: closing would look like cancelling. */
  const close = () => {
    if (!busy()) props.onClose()
  }
  const confirm = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await props.onConfirm()
      props.onClose()
    } catch (thrown) {
      setFailure({ thrown })
    } finally {
      setBusy(false)
    }
  }
  const describe = (thrown: unknown) => props.describeError?.(thrown) ?? failureText(thrown)
  return (
    <Kobalte open={isOpen()} onOpenChange={(open) => !open && close()}>
      <Kobalte.Portal>
        <Kobalte.Overlay class="fixed inset-0 z-50 bg-scrim" />
        <div class="fixed inset-0 z-50 flex items-start justify-center p-4 pt-[18vh]">
          <Kobalte.Content
            {...focus}
            role="alertdialog"
            class="animate-appear w-full max-w-md rounded-xl bg-surface p-5 shadow-pop outline-none"
          >
            <Kobalte.Title class="text-lg font-semibold text-ink">{props.title}</Kobalte.Title>
            <Kobalte.Description as="div" class="mt-1.5 text-sm text-ink-2">
              {props.children}
            </Kobalte.Description>
            <Show when={failure()}>
              {(one) => (
                <div role="alert" class="mt-3 rounded-md bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad">
                  {describe(one().thrown)}
                </div>
              )}
            </Show>
            <div class="mt-5 flex justify-end gap-2">
              <Button disabled={busy()} onClick={close}>
                {props.cancel ?? t('common.cancel')}
              </Button>
              <Button variant={props.tone === 'bad' ? 'danger' : 'primary'} busy={busy()} onClick={() => void confirm()}>
                {props.confirm}
              </Button>
            </div>
          </Kobalte.Content>
        </div>
      </Kobalte.Portal>
    </Kobalte>
  )
}
