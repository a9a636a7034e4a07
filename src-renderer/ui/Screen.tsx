import type { JSX } from 'solid-js'

const WIDTHS = { narrow: 'max-w-3xl', medium: 'max-w-4xl', normal: 'max-w-5xl', full: 'max-w-none' }

/** The scrolling frame of a screen. Screens that divide their own height (chat) do without it. */
export function Screen(props: { width?: keyof typeof WIDTHS; children: JSX.Element }) {
  return (
    // What only a screen reader sees (the real switch below the drawn one) is placed by the nearest positioned frame. Were that
    // the page, it would grow by what is scrolled here, and reaching such a switch by Tab would push the whole app out of sight.
    <div class="scroll-quiet relative h-full overflow-y-auto [scrollbar-gutter:stable]">
      <div class={`mx-auto w-full px-8 py-7 max-md:px-4 max-md:py-5 ${WIDTHS[props.width ?? 'normal']}`}>{props.children}</div>
    </div>
  )
}
