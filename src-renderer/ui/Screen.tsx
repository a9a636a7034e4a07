import type { JSX } from 'solid-js'

const WIDTHS = { narrow: 'max-w-3xl', medium: 'max-w-4xl', normal: 'max-w-5xl', full: 'max-w-none' }

/** The scrolling frame of a screen. Screens with a layout of their own, such as the chat, do not use it. */
export function Screen(props: { width?: keyof typeof WIDTHS; children: JSX.Element }) {
  return (
    // Elements only for screen readers, such as the real input of a switch, are positioned in the nearest positioned ancestor.
    // If that were the page, it would grow, and focusing such an input would scroll the whole app out of sight.
    <div class="scroll-quiet relative h-full overflow-y-auto [scrollbar-gutter:stable]">
      <div class={`mx-auto w-full px-8 py-7 max-md:px-4 max-md:py-5 ${WIDTHS[props.width ?? 'normal']}`}>{props.children}</div>
    </div>
  )
}
