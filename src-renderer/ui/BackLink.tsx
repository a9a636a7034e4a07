import { A } from '@solidjs/router'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import type { JSX } from 'solid-js'

/** A link to the list that a page belongs to. */
export function BackLink(props: { href: string; children: JSX.Element }): JSX.Element {
  return (
    <A href={props.href} class="-ml-1 mb-3 inline-flex items-center gap-1 rounded-md px-1 text-xs text-ink-3 hover:text-ink">
      <ChevronLeft size={14} aria-hidden="true" />
      {props.children}
    </A>
  )
}
