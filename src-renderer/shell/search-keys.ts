import { onCleanup, onMount } from 'solid-js'

const FIELD = 'main input[type=search]'
/** Where the focus goes below the field: a list that handles keys itself, or the rows of one that does not. */
const ENTRY = 'main [role=listbox], main [data-row]'

/**
 * Moves between the search field of a screen and the list below it. Arrow down enters the list, arrow up leaves its first
 * row. Escape returns to the field, then empties it, then leaves it.
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

/** Focuses the search field of the current screen, if it has one. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(FIELD)
  field?.focus()
  field?.select()
}
