/**
 * Moves the focus on from a card that was just answered: to the next open card, else to the composer, else to the card, which
 * shows the outcome. It leaves the focus alone if the person has moved it elsewhere.
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
