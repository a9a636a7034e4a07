/**
 * The focus goes on from a card that was just answered: to the next open one, else to the field of the talk, else to the card,
 * which says how it ended. Where the person has gone elsewhere meanwhile, it stays.
 */
export function focusNextCard(card: HTMLElement): void {
  queueMicrotask(() => {
    const { activeElement } = document
    if (activeElement !== document.body && !card.contains(activeElement)) return
    const open = [...document.querySelectorAll<HTMLElement>('[data-decision=open]')].filter((other) => other !== card)
    const next =
      open.find((other) => (card.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0) ??
      open[0] ??
      document.querySelector<HTMLElement>('[data-composer] textarea') ??
      card
    next.focus()
  })
}
