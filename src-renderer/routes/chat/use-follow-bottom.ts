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
  let lastTop = 0
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
        // Far from the end is also where the text has grown since the last frame: only who went up is away.
        else if (scrollTop < lastTop) setAway(true)
        lastTop = scrollTop
      }
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
