/** After whatever is on its way now: a screen that is being put together, a dialog that closes. */
export function focusSoon(element: () => HTMLElement | undefined): void {
  // On a touch screen the focus would open the keyboard over what is to be read first.
  if (globalThis.matchMedia?.('(pointer: coarse)').matches === true) return
  queueMicrotask(() => element()?.focus({ preventScroll: true }))
}
