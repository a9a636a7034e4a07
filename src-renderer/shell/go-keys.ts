import { onCleanup, onMount } from 'solid-js'
import { isPopupOpen, isWriting } from '../lib/keyboard.ts'
import { SCREENS } from './screens.ts'

const SECOND_KEY_WITHIN_MS = 1200

/** Pressing `g` and then a letter opens a screen. */
export function useGoKeys(go: (path: string) => void, now: () => number = () => performance.now()): void {
  let startedAt = Number.NEGATIVE_INFINITY
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isWriting(event.target)) return
    if (isPopupOpen()) return
    const isSecond = now() - startedAt < SECOND_KEY_WITHIN_MS
    startedAt = event.key === 'g' && !isSecond ? now() : Number.NEGATIVE_INFINITY
    const screen = isSecond ? SCREENS.find((one) => one.key === event.key) : undefined
    if (screen === undefined) return
    event.preventDefault()
    // The letter must not also act as a single key, such as `c` for a new chat.
    event.stopImmediatePropagation()
    go(screen.path)
  }
  onMount(() => document.addEventListener('keydown', onKeyDown, { capture: true }))
  onCleanup(() => document.removeEventListener('keydown', onKeyDown, { capture: true }))
}
