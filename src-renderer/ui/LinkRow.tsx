import { A } from '@solidjs/router'
import type { JSX } from 'solid-js'

/** A row of an `ArrowList` that leads to a page. On a phone its columns go below what stands first. */
export function LinkRow(props: {
  href: string
  icon: JSX.Element
  /** Its name, and lines about it. */
  lead: JSX.Element
  /** Pills at the end. */
  state: JSX.Element
  /** Columns in between. */
  children?: JSX.Element
}): JSX.Element {
  return (
    <li class="border-t border-line first:border-t-0">
      <A href={props.href} data-row class="flex items-start gap-3 px-4 py-3 hover:bg-hover focus-visible:-outline-offset-2">
        {props.icon}
        <div class="flex min-w-0 flex-1 items-center gap-x-4 gap-y-1 max-md:flex-wrap">
          <div class="min-w-0 flex-1 max-md:min-w-52">{props.lead}</div>
          {props.children}
          <div class="flex w-44 flex-wrap justify-end gap-1 max-lg:w-32 max-md:w-full max-md:justify-start">{props.state}</div>
        </div>
      </A>
    </li>
  )
}

/** Who may use it, in a column of a `LinkRow`. */
export function LinkRowNames(props: { names: readonly string[]; none: string }): JSX.Element {
  return (
    <div class={`w-36 min-w-0 truncate text-xs max-lg:w-28 max-md:w-full ${props.names.length > 0 ? 'text-ink-2' : 'text-ink-3'}`}>
      {props.names.length > 0 ? props.names.join(', ') : props.none}
    </div>
  )
}
