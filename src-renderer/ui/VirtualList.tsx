import { createVirtualizer } from '@tanstack/solid-virtual'
import { createEffect, createSignal, For, type JSX, on, Show } from 'solid-js'
import { t } from '../lib/language.ts'

export type VirtualListProps<T> = {
  items: readonly T[]
  /** A list needs a name. */
  label: string
  keyOf: (item: T) => string
  rowHeight: number
  row: (item: T, isActive: () => boolean) => JSX.Element
  /** Enter or click. */
  onOpen?: (item: T) => void
  /** Called near the end of the list while there is more. */
  onMore?: () => void
  hasMore?: boolean
  isLoadingMore?: boolean
  /** The element that scrolls, for a screen that needs the scroll position. */
  frame?: (frame: HTMLDivElement) => void
  class?: string
}

/**
 * A long list that renders only the visible rows. It is one tab stop: arrows, Home, End and the Page keys move, Enter opens.
 * Rows have a fixed height, so nothing shifts while it scrolls.
 */
export function VirtualList<T>(props: VirtualListProps<T>) {
  let frame!: HTMLDivElement
  const [activeKey, setActiveKey] = createSignal<string | null>(null)
  const virtualizer = createVirtualizer({
    get count() {
      return props.items.length
    },
    getScrollElement: () => frame,
    estimateSize: () => props.rowHeight,
    overscan: 8,
    getItemKey: (index) => {
      const item = props.items[index]
      return item === undefined ? index : props.keyOf(item)
    },
    // For the first paint, and for tests, which have no layout.
    initialRect: { width: 800, height: 600 },
  })
  const activeIndex = () => props.items.findIndex((item) => props.keyOf(item) === activeKey())
  const rowId = (key: string) => `row-${key}`

  const moveTo = (index: number) => {
    const bounded = Math.max(0, Math.min(props.items.length - 1, index))
    const item = props.items[bounded]
    if (item === undefined) return
    setActiveKey(props.keyOf(item))
    virtualizer.scrollToIndex(bounded)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys on a button or link inside a row belong to it.
    if (event.target !== frame && (event.target as HTMLElement).role !== 'option') return
    const page = Math.max(1, Math.floor(frame.clientHeight / props.rowHeight) - 1)
    const steps: Record<string, () => void> = {
      ArrowDown: () => moveTo(activeIndex() + 1),
      // On the first row, the key belongs to what is above the list.
      ...(activeIndex() > 0 && { ArrowUp: () => moveTo(activeIndex() - 1) }),
      PageDown: () => moveTo(activeIndex() + page),
      PageUp: () => moveTo(activeIndex() - page),
      Home: () => moveTo(0),
      End: () => moveTo(props.items.length - 1),
      Enter: () => {
        const item = props.items[activeIndex()]
        if (item !== undefined) props.onOpen?.(item)
      },
    }
    const step = steps[event.key]
    if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return
    event.preventDefault()
    step()
  }

  createEffect(
    on([() => virtualizer.getVirtualItems().at(-1)?.index ?? 0, () => props.items.length], ([last, count]) => {
      if (count > 0 && last >= count - 10 && props.hasMore === true && props.isLoadingMore !== true) props.onMore?.()
    }),
  )

  return (
    <div
      ref={(element) => {
        frame = element
        props.frame?.(element)
      }}
      role="listbox"
      aria-label={props.label}
      tabIndex={0}
      aria-activedescendant={activeIndex() >= 0 ? rowId(activeKey()!) : undefined}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target === frame && activeIndex() < 0 && frame.matches(':focus-visible')) moveTo(0)
      }}
      class={`scroll-quiet relative overflow-y-auto focus-visible:-outline-offset-2 ${props.class ?? ''}`}
    >
      <div
        class="relative w-full"
        ref={(space) => createEffect(() => space.style.setProperty('height', `${virtualizer.getTotalSize()}px`))}
      >
        <For each={virtualizer.getVirtualItems()}>
          {(place) => {
            const item = () => props.items[place.index]
            return (
              <Show when={item()} keyed>
                {(shown) => (
                  // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the list itself has the focus and handles the keys
                  <div
                    ref={(row) => {
                      row.style.height = `${props.rowHeight}px`
                      row.style.transform = `translateY(${place.start}px)`
                    }}
                    id={rowId(props.keyOf(shown))}
                    role="option"
                    tabIndex={-1}
                    aria-selected={props.keyOf(shown) === activeKey()}
                    aria-setsize={props.hasMore ? -1 : props.items.length}
                    aria-posinset={place.index + 1}
                    class="absolute inset-x-0 top-0"
                    onClick={() => {
                      frame.focus({ preventScroll: true })
                      setActiveKey(props.keyOf(shown))
                      props.onOpen?.(shown)
                    }}
                  >
                    {props.row(shown, () => props.keyOf(shown) === activeKey())}
                  </div>
                )}
              </Show>
            )
          }}
        </For>
      </div>
      <Show when={props.isLoadingMore}>
        <p class="px-4 py-2 text-xs text-ink-3" role="status">
          {t('common.loadingMore')}
        </p>
      </Show>
    </div>
  )
}
