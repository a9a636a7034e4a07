import { useLocation } from '@solidjs/router'
import { createEffect, on, onCleanup } from 'solid-js'

/** The content loads bit by bit: how long to look for the part, and to keep it in its place. */
const HOLD_MS = 3_000
const OWN_MOVES = ['wheel', 'pointerdown', 'keydown'] as const

/** Scrolls to the part that the URL names (`/settings/general#theme`), until the person scrolls. */
export function useNamedPart(screen: () => HTMLElement): void {
  const location = useLocation()
  createEffect(
    on(
      () => [location.hash, location.pathname] as const,
      ([hash]) => {
        if (hash === '') return
        const selector = `#${CSS.escape(hash.slice(1))}`
        let part: HTMLElement | null = null
        const show = () => {
          const found = screen().querySelector<HTMLElement>(selector)
          if (found === null) return
          found.scrollIntoView({ block: 'nearest' })
          if (found === part) return
          part = found
          // Tab continues from here.
          found.tabIndex = -1
          found.focus({ preventScroll: true })
        }
        const sizes = new ResizeObserver(show)
        const content = new MutationObserver(show)
        const end = () => {
          sizes.disconnect()
          content.disconnect()
          clearTimeout(timer)
          for (const move of OWN_MOVES) removeEventListener(move, end, { capture: true })
        }
        const timer = setTimeout(end, HOLD_MS)
        for (const move of OWN_MOVES) addEventListener(move, end, { capture: true, passive: true })
        onCleanup(end)
        sizes.observe(screen())
        content.observe(screen(), { childList: true, subtree: true })
        show()
      },
    ),
  )
}
