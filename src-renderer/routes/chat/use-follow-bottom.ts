import { type Accessor, createSignal, onCleanup } from 'solid-js'

/** Within this distance of the end, the person reads the newest. */
const NEAR_PX = 48

/** Space above a card, so that its top edge is visible. */
const ABOVE_DECISION_PX = 12

export type FollowBottom = {
  /** The person has scrolled up to read, so the stream must not scroll the page. */
  isAway: Accessor<boolean>
  toBottom: () => void
  /** Takes the element that scrolls and the growing one inside it. */
  watch: (scroller: HTMLElement, content: HTMLElement) => void
}

/** Keeps the end of a growing chat, or its first open approval, visible unless the person reads further up. */
export function useFollowBottom(): FollowBottom {
  const [isAway, setAway] = createSignal(false)
  let frame: HTMLElement | undefined
  let lastTop = 0
  /** The end, or the position at which the first open approval is fully visible. */
  const end = (scroller: HTMLElement): number => {
    const bottom = scroller.scrollHeight - scroller.clientHeight
    const decision = scroller.querySelector('[data-decision=open]')
    if (decision === null) return bottom
    const top = scroller.scrollTop + decision.getBoundingClientRect().top - scroller.getBoundingClientRect().top
    return Math.min(bottom, top - ABOVE_DECISION_PX)
  }
  const toBottom = () => {
    setAway(false)
    if (frame === undefined) return
    frame.scrollTop = end(frame)
    lastTop = frame.scrollTop
  }
  return {
    isAway,
    toBottom,
    watch(scroller, content) {
      frame = scroller
      const onScroll = () => {
        const { scrollTop } = scroller
        if (end(scroller) - scrollTop <= NEAR_PX) setAway(false)
        // The text may have grown since the last frame, so only scrolling up counts as being away.
        else if (scrollTop < lastTop) setAway(true)
        lastTop = scrollTop
      }
      const sizes = new ResizeObserver(() => {
        // Does not move a person who reads further up, or below an open approval.
        if (!isAway() && scroller.scrollTop - end(scroller) <= NEAR_PX) toBottom()
      })
      sizes.observe(content)
      sizes.observe(scroller)
      scroller.addEventListener('scroll', onScroll, { passive: true })
      onCleanup(() => {
        sizes.disconnect()
        scroller.removeEventListener('scroll', onScroll)
      })
    },
  }
}
