import type { JSX } from 'solid-js'

/**
 * A short list with a link or button in each row. All of them are tab stops; arrows, Home and End move between them.
 * The link or button of a row has the attribute `data-row`.
 */
export function ArrowList(props: { label: string; class?: string; children: JSX.Element }): JSX.Element {
  let list!: HTMLUListElement
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return
    const rows = [...list.querySelectorAll<HTMLElement>('[data-row]')]
    const at = rows.indexOf(event.target as HTMLElement)
    if (at === -1) return
    const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }
    const target = rows[targets[event.key] ?? -1]
    if (target === undefined) return
    event.preventDefault()
    target.focus()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its rows have the focus; the list only handles their arrow keys
    <ul ref={(element) => (list = element)} aria-label={props.label} class={props.class} onKeyDown={onKeyDown}>
      {props.children}
    </ul>
  )
}
