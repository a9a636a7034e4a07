import { type Accessor, createSignal, onCleanup } from 'solid-js'

/** So near to the end, a person is taken to read the newest. */
const NEAR_PX = 48

export type FollowBottom = {
  /** The person scrolled up to read: the stream must not pull the page away. */
  isAway: Accessor<boolean>
  toBottom: () => void
  /** For the element that scrolls and the one inside that grows. */
  watch: (scroller: HTMLElement, content: HTMLElement) => void
}

/** Keeps the end of a growing text in sight, unless somebody reads further up. */
export function useFollowBottom(): FollowBottom {
  const [isAway, setAway] = createSignal(false)
  let frame: HTMLElement | undefined
  const toBottom = () => {
    setAway(false)
    if (frame !== undefined) frame.scrollTop = frame.scrollHeight
  }
  return {
    isAway,
    toBottom,
    watch(scroller, content) {
      frame = scroller
      const onScroll = () => setAway(scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight > NEAR_PX)
      const sizes = new ResizeObserver(() => {
        if (!isAway()) toBottom()
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
