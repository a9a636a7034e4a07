import { type Accessor, createSignal, onCleanup } from 'solid-js'

/** So near to the end, a person is taken to read the newest. */
const NEAR_PX = 48

/** So that it is seen where a card begins. */
const ABOVE_DECISION_PX = 12

export type FollowBottom = {
  /** The person scrolled up to read: the stream must not pull the page away. */
  isAway: Accessor<boolean>
  toBottom: () => void
  /** For the element that scrolls and the one inside that grows. */
  watch: (scroller: HTMLElement, content: HTMLElement) => void
}

/** Keeps the end of a growing text, or the decision that it waits for, in sight, unless somebody reads further up. */
export function useFollowBottom(): FollowBottom {
  const [isAway, setAway] = createSignal(false)
  let frame: HTMLElement | undefined
  /** The end, or as far towards it as the first open decision stays whole. */
  const end = (scroller: HTMLElement): number => {
    const bottom = scroller.scrollHeight - scroller.clientHeight
    const decision = scroller.querySelector('[data-decision=open]')
    if (decision === null) return bottom
    const top = scroller.scrollTop + decision.getBoundingClientRect().top - scroller.getBoundingClientRect().top
    return Math.min(bottom, top - ABOVE_DECISION_PX)
  }
  const toBottom = () => {
    setAway(false)
    if (frame !== undefined) frame.scrollTop = end(frame)
  }
  return {
    isAway,
    toBottom,
    watch(scroller, content) {
      frame = scroller
      const onScroll = () => setAway(end(scroller) - scroller.scrollTop > NEAR_PX)
      const sizes = new ResizeObserver(() => {
        // Neither a reader further up nor one below an open decision is taken away from what they read.
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
