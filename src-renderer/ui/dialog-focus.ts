import { untrack } from 'solid-js'

/**
 * Where the focus goes when a dialog opens and where it returns to. Our dialogs are opened by state, not by a trigger of
 * their own, so what had the focus before has to be remembered here.
 */
export function createDialogFocus(chooseFirst: (dialog: HTMLElement) => HTMLElement | null) {
  let before: Element | null = null
  return {
    onOpenAutoFocus(event: Event) {
      const dialog = event.currentTarget as HTMLElement
      before = document.activeElement
      event.preventDefault()
      // Kobalte sends this event from inside an effect: whatever a field reads when it gets the focus would make that
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

/** The first field of a dialog's body; never Close, which would be the first of its buttons. */
export function firstField(dialog: HTMLElement): HTMLElement | null {
  return dialog.querySelector<HTMLElement>('[data-dialog-body] :is(input, textarea, select, [aria-haspopup=listbox]):not(:disabled)')
}
