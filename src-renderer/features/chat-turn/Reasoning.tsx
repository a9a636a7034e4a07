import ChevronRight from 'lucide-solid/icons/chevron-right'
import { createSignal, createUniqueId, Show } from 'solid-js'
import { t } from '../../lib/language.ts'

/** What the model thought before it answered: folded, because the answer is what counts. */
export function Reasoning(props: { text: string }) {
  const [open, setOpen] = createSignal(false)
  const id = createUniqueId()
  return (
    <div>
      <button
        type="button"
        aria-expanded={open()}
        aria-controls={open() ? id : undefined}
        class="-ml-1 flex items-center gap-1 rounded-md px-1 py-0.5 text-xs text-ink-3 hover:bg-hover hover:text-ink"
        onClick={() => setOpen(!open())}
      >
        <ChevronRight size={13} class={`transition-transform duration-100 ${open() ? 'rotate-90' : ''}`} aria-hidden="true" />
        {t('turn.reasoning')}
      </button>
      <Show when={open()}>
        <p id={id} class="mt-1 mb-2 ml-1.5 border-l-2 border-line pl-3 text-sm leading-5.5 wrap-anywhere whitespace-pre-wrap text-ink-2">
          {props.text}
        </p>
      </Show>
    </div>
  )
}
