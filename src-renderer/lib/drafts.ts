import { createSignal } from 'solid-js'

/** Texts that are being written. They survive a reload, and last as long as the window. */
const STORED_AS = 'deckhand.draft.'
const [draftChange, announceDraftChange] = createSignal(undefined, { equals: false })

/** Reactive: a text that could not be sent gets into the draft while its field is shown. */
export function readDraft(name: string): string {
  draftChange()
  return sessionStorage.getItem(STORED_AS + name) ?? ''
}

export function keepDraft(name: string, text: string): void {
  if (text === '') sessionStorage.removeItem(STORED_AS + name)
  else sessionStorage.setItem(STORED_AS + name, text)
  announceDraftChange()
}

/** For a field that shows the same text before and after, so nothing is announced. */
export function moveDraft(from: string, to: string): void {
  const text = sessionStorage.getItem(STORED_AS + from)
  if (text === null) return
  sessionStorage.setItem(STORED_AS + to, text)
  sessionStorage.removeItem(STORED_AS + from)
}

export function joinDrafts(above: string, below: string): string {
  return [above.trim(), below.trim()].filter(Boolean).join('\n\n')
}
