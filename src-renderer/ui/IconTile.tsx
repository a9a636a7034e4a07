import type { JSX } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Icon } from './icon.ts'

export const TILE_SIZES = { md: 'size-9 rounded-lg', lg: 'size-12 rounded-xl' }

/** The tile before the name of something that has no picture of its own. */
export function IconTile(props: { icon: Icon; size?: keyof typeof TILE_SIZES | undefined }): JSX.Element {
  return (
    <span
      aria-hidden="true"
      class={`inline-flex shrink-0 items-center justify-center border border-line bg-inset text-ink-2 ${TILE_SIZES[props.size ?? 'md']}`}
    >
      <Dynamic component={props.icon} size={props.size === 'lg' ? 24 : 17} aria-hidden="true" />
    </span>
  )
}
