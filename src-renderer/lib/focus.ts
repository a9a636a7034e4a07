/** Focuses an element after the current changes, such as a closing dialog, are done. */
export function focusSoon(element: () => HTMLElement | undefined): void {
  // On a touch screen the focus would open the keyboard and cover the screen.
  if (globalThis.matchMedia?.('(pointer: coarse)').matches === true) return
  queueMicrotask(() => element()?.focus({ preventScroll: true }))
}
