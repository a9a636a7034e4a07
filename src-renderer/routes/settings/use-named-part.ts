import { useLocation } from '@solidjs/router'
import { createEffect, on, onCleanup } from 'solid-js'

/** What stands above a part comes in bit by bit and pushes it down; for so long the part is held where it was shown. */
const HOLD_MS = 3_000
const OWN_MOVES = ['wheel', 'pointerdown', 'keydown'] as const

/** Shows the part of a long screen that the address names (`/settings#outside`), until the person moves by themselves. */
export function useNamedPart(screen: () => HTMLElement): void {
  const location = useLocation()
  createEffect(
    on(
      () => location.hash,
      (hash) => {
        const part = hash === '' ? null : screen().querySelector<HTMLElement>(`#${CSS.escape(hash.slice(1))}`)
        if (part === null) return
        const show = () => part.scrollIntoView({ block: 'start' })
        const sizes = new ResizeObserver(show)
        const end = () => {
          sizes.disconnect()
          clearTimeout(timer)
          for (const move of OWN_MOVES) removeEventListener(move, end, { capture: true })
        }
        const timer = setTimeout(end, HOLD_MS)
        for (const move of OWN_MOVES) addEventListener(move, end, { capture: true, passive: true })
        onCleanup(end)
        sizes.observe(screen())
        show()
        // Whoever goes on by Tab goes on from there.
        part.tabIndex = -1
        part.focus({ preventScroll: true })
      },
    ),
  )
}
