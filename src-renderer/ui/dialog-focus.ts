import { untrack } from 'solid-js'

/**
 * Moves the focus into a dialog that opens, and back when it closes. Our dialogs open by state, without a trigger of their
 * own, so the element that had the focus is remembered here.
 */
export function createDialogFocus(chooseFirst: (dialog: HTMLElement) => HTMLElement | null) {
  let before: Element | null = null
  return {
    onOpenAutoFocus(event: Event) {
      const dialog = event.currentTarget as HTMLElement
      before = document.activeElement
      event.preventDefault()
      // Kobalte sends this event from inside an effect: a signal that a field reads on focus would make that
      // effect run again, which closes and opens the scope.
      untrack(() => {
        const first = chooseFirst(dialog)
        if (first !== null) return first.focus()
        dialog.tabIndex = -1
        dialog.focus()
      })
    },
    onCloseAutoFocus(event: Event) {
      event.preventDefault()
      const target =
        before instanceof HTMLElement && before.isConnected && before !== document.body ? before : document.getElementById('main')
      target?.focus({ preventScroll: true })
    },
  }
}

/** The first field of a dialog's body; never Close, which is its first button. */
export function firstField(dialog: HTMLElement): HTMLElement | null {
  return dialog.querySelector<HTMLElement>('[data-dialog-body] :is(input, textarea, select, [aria-haspopup=listbox]):not(:disabled)')
}
