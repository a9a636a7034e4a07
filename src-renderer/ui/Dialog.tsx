import { Dialog as Kobalte } from '@kobalte/core/dialog'
import X from 'lucide-solid/icons/x'
import { type JSX, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { createDialogFocus, firstField } from './dialog-focus.ts'

export type DialogProps = {
  open: boolean
  onClose: () => void
  /** Left out: Escape and a click beside the dialog close it. */
  mayClose?: (by: 'escape' | 'click beside') => boolean
  title: string
  description?: string
  /** Buttons at the bottom right. */
  actions?: JSX.Element
  size?: 'sm' | 'md' | 'lg'
  /** It is read from its top: no field further down gets the focus. */
  isText?: boolean
  children?: JSX.Element
}

const WIDTHS = { sm: 'max-w-sm', md: 'max-w-lg', lg: 'max-w-2xl' }

export function Dialog(props: DialogProps) {
  const focus = createDialogFocus((dialog) => (props.isText ? null : firstField(dialog)))
  return (
    <Kobalte open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Kobalte.Portal>
        <Kobalte.Overlay class="fixed inset-0 z-40 bg-scrim" />
        <div class="fixed inset-0 z-40 flex items-start justify-center p-4 pt-[12vh] max-sm:items-end max-sm:p-0">
          <Kobalte.Content
            {...focus}
            onEscapeKeyDown={(event) => props.mayClose?.('escape') === false && event.preventDefault()}
            onInteractOutside={(event) => props.mayClose?.('click beside') === false && event.preventDefault()}
            class={`animate-appear flex max-h-[76vh] w-full ${WIDTHS[props.size ?? 'md']} flex-col rounded-xl bg-surface shadow-pop outline-none max-sm:max-h-[88vh] max-sm:max-w-none max-sm:rounded-b-none`}
          >
            <header class="flex items-start gap-4 px-5 pt-4 pb-3">
              <div class="min-w-0 flex-1">
                <Kobalte.Title class="text-lg font-semibold text-ink">{props.title}</Kobalte.Title>
                <Show when={props.description}>
                  <Kobalte.Description class="mt-0.5 text-sm text-ink-2">{props.description}</Kobalte.Description>
                </Show>
              </div>
              <Kobalte.CloseButton
                class="-mr-1.5 flex size-7 shrink-0 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
                aria-label={t('common.close')}
              >
                <X size={16} aria-hidden="true" />
              </Kobalte.CloseButton>
            </header>
            <div data-dialog-body="" class="scroll-quiet min-h-0 flex-1 overflow-y-auto px-5 pb-5">
              {props.children}
            </div>
            <Show when={props.actions}>
              <footer class="flex items-center justify-end gap-2 border-t border-line px-5 py-3">{props.actions}</footer>
            </Show>
          </Kobalte.Content>
        </div>
      </Kobalte.Portal>
    </Kobalte>
  )
}
