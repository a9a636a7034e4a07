import { createMemo, For, type JSX } from 'solid-js'

/**
 * A list of objects that are recreated on every change. Each key keeps its elements, and with them what is
 * open, selected or focused there.
 */
export function KeyedFor<T>(props: {
  each: readonly T[]
  keyOf: (item: T) => string
  children: (item: () => T) => JSX.Element
}): JSX.Element {
  const byKey = createMemo(() => new Map(props.each.map((item) => [props.keyOf(item), item])))
  return (
    <For each={[...byKey().keys()]}>
      {(key) => {
        // What is about to leave is read once more on its way out.
        const item = createMemo<T>((held) => byKey().get(key) ?? held, byKey().get(key)!)
        return props.children(item)
      }}
    </For>
  )
}
