import { createSignal, createUniqueId, type JSX, Show } from 'solid-js'
import { FoldIcon } from './Fold.tsx'

/** A row of a list that unfolds what belongs to it. */
export function FoldRow(props: {
  /** What the button shows. */
  head: JSX.Element
  /** Beside the button, such as another button. */
  aside?: JSX.Element
  isOpen?: boolean
  /** In a narrow frame. */
  compact?: boolean
  children: JSX.Element
}): JSX.Element {
  // oxlint-disable-next-line solid/reactivity -- only how it is at first
  const [open, setOpen] = createSignal(props.isOpen ?? false)
  const id = createUniqueId()
  const sides = () => (props.compact ? 'px-3' : 'px-4')
  return (
    <li class="border-t border-line first:border-t-0">
      <div class={`flex items-center gap-2.5 ${sides()} ${props.compact ? 'py-1' : 'py-1.5'}`}>
        <button
          type="button"
          aria-expanded={open()}
          aria-controls={open() ? id : undefined}
          class="flex min-w-0 flex-1 items-center gap-2 rounded-sm py-0.5 text-left hover:text-ink max-md:min-h-10"
          onClick={() => setOpen(!open())}
        >
          <FoldIcon open={open()} />
          <span class="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5">{props.head}</span>
        </button>
        {props.aside}
      </div>
      <Show when={open()}>
        <div id={id} class={`flex flex-col gap-2 pb-4 ${sides()}`}>
          {props.children}
        </div>
      </Show>
    </li>
  )
}
