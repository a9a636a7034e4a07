import { onCleanup, onMount } from 'solid-js'

export const isApple = /mac|iphone|ipad/i.test(navigator.platform)

/** Whether keys pressed here type text. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'submit', 'range'].includes(target.type)
}

/**
 * Whether the event is this combination, such as `Mod+k`, `Shift+?` or `Enter`. `Mod` is Command on Apple machines and
 * Control elsewhere. Shift is ignored for punctuation (`?`), because keyboard layouts differ in whether they need it.
 */
export function isCombo(event: KeyboardEvent, combo: string): boolean {
  const parts = combo.split('+')
  const key = parts.pop() ?? ''
  const wantsMod = parts.includes('Mod')
  const mod = isApple ? event.metaKey : event.ctrlKey
  const otherMod = isApple ? event.ctrlKey : event.metaKey
  if (mod !== wantsMod || otherMod || event.altKey !== parts.includes('Alt')) return false
  const isLetterOrNamed = /^[a-z0-9]$/i.test(key) || key.length > 1
  if (isLetterOrNamed && event.shiftKey !== parts.includes('Shift')) return false
  return event.key.toLowerCase() === key.toLowerCase()
}

/** The keys of a combination as they are printed on this machine's keyboard. */
export function comboKeys(combo: string): string[] {
  const apple: Record<string, string> = { Mod: '⌘', Shift: '⇧', Alt: '⌥', Enter: '↵', Escape: 'esc' }
  const other: Record<string, string> = { Mod: 'Ctrl', Enter: 'Enter', Escape: 'Esc' }
  const names = isApple ? apple : other
  const arrows: Record<string, string> = { ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→' }
  return combo.split('+').map((key) => names[key] ?? arrows[key] ?? (key.length === 1 ? key.toUpperCase() : key))
}

/** Whether a dialog, a menu or a list of choices is open, whose keys are its own: a letter finds a choice. */
export function isPopupOpen(): boolean {
  return document.querySelector('[role=dialog],[role=alertdialog],[role=menu],[role=listbox][data-popup]') !== null
}

export type KeyMap = Record<string, (event: KeyboardEvent) => void>

/**
 * Handles key combinations while the component is mounted. Plain keys are ignored while the person types or a dialog is
 * open; combinations with `Mod` work everywhere.
 */
export function useKeys(keys: KeyMap): void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    for (const combo of Object.keys(keys)) {
      if (!isCombo(event, combo)) continue
      if (!combo.includes('Mod+') && (isWriting(event.target) || isPopupOpen())) continue
      event.preventDefault()
      keys[combo]!(event)
      return
    }
  }
  onMount(() => document.addEventListener('keydown', onKeyDown))
  onCleanup(() => document.removeEventListener('keydown', onKeyDown))
}
