import ChevronRight from 'lucide-solid/icons/chevron-right'
import { createSignal, createUniqueId, type JSX, Show } from 'solid-js'

/** A small button that shows and hides what is below it. Hidden at first. `wide`: a row of a list. */
export function Fold(props: { label: JSX.Element; wide?: boolean; children: JSX.Element }): JSX.Element {
  const [open, setOpen] = createSignal(false)
  const id = createUniqueId()
  return (
    <div>
      <button
        type="button"
        aria-expanded={open()}
        aria-controls={open() ? id : undefined}
        class={`flex items-center gap-1 rounded-md text-left text-xs text-ink-3 hover:bg-hover hover:text-ink max-md:min-h-10 pointer-coarse:min-h-10 ${
          props.wide ? 'min-h-7 w-full' : '-ml-1 min-h-6 px-1'
        }`}
        onClick={() => setOpen(!open())}
      >
        <FoldIcon open={open()} />
        {props.label}
      </button>
      <Show when={open()}>
        <div id={id}>{props.children}</div>
      </Show>
    </div>
  )
}

export function FoldIcon(props: { open: boolean }): JSX.Element {
  return (
    <ChevronRight
      size={13}
      class={`shrink-0 text-ink-3 transition-transform duration-100 ${props.open ? 'rotate-90' : ''}`}
      aria-hidden="true"
    />
  )
}
