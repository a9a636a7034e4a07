import { onCleanup, onMount } from 'solid-js'

const FIELD = 'main input[type=search]'
/** What a list offers to the keyboard: a list that moves by itself, or its rows. */
const ENTRY = 'main [role=listbox], main [data-row]'

/**
 * Between the search field of a screen and the list below it: the arrow down goes into the list, the arrow up leaves its
 * first row, and Escape goes back to the field, which a second one empties and a third one leaves.
 */
export function useSearchKeys(): void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { target } = event
    if (event.defaultPrevented || event.isComposing || event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return
    if (!(target instanceof HTMLElement)) return
    if (target.matches(FIELD)) inField(event, target as HTMLInputElement)
    else if (target.matches(ENTRY) && (event.key === 'ArrowUp' || event.key === 'Escape')) {
      const field = document.querySelector<HTMLInputElement>(FIELD)
      if (field === null) return
      event.preventDefault()
      field.focus()
    }
  }
  onMount(() => document.addEventListener('keydown', onKeyDown))
  onCleanup(() => document.removeEventListener('keydown', onKeyDown))
}

function inField(event: KeyboardEvent, field: HTMLInputElement): void {
  if (event.key === 'ArrowDown') {
    const below = [...document.querySelectorAll<HTMLElement>(ENTRY)].find(
      (entry) => (field.compareDocumentPosition(entry) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    )
    if (below === undefined) return
    event.preventDefault()
    below.focus()
  } else if (event.key === 'Escape') {
    event.preventDefault()
    if (field.value === '') return field.blur()
    field.value = ''
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
}

/** The search field of the screen in front, if it has one. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(FIELD)
  field?.focus()
  field?.select()
}
