import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { type JSX, Show, splitProps } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Icon } from './icon.ts'

export type ButtonLook = {
  /** `primary` at most once in a view. */
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger'
  size?: 'sm' | 'md' | 'lg'
  icon?: Icon
}

export type ButtonProps = ButtonLook & JSX.ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean }

const BASE =
  'inline-flex shrink-0 max-md:min-h-10 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors duration-100 disabled:opacity-45 disabled:pointer-events-none'
const VARIANTS = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover active:bg-accent-hover',
  secondary: 'border border-line bg-surface text-ink shadow-card hover:bg-inset active:bg-pressed',
  ghost: 'text-ink-2 hover:bg-hover hover:text-ink active:bg-pressed',
  danger: 'border border-line bg-surface text-bad shadow-card hover:bg-bad-soft active:bg-bad-soft',
}
const SIZES = { sm: 'h-7 px-2 text-xs', md: 'h-8 px-3 text-sm', lg: 'h-10 px-4 text-md' }

/** The classes of a button, for links that look like one. */
export function buttonClass(look: ButtonLook, extra = ''): string {
  return `${BASE} ${VARIANTS[look.variant ?? 'secondary']} ${SIZES[look.size ?? 'md']} ${extra}`
}

export function Button(props: ButtonProps) {
  const [own, rest] = splitProps(props, ['variant', 'size', 'icon', 'busy', 'class', 'children', 'disabled', 'type'])
  return (
    <button
      type={own.type ?? 'button'}
      class={buttonClass(own, own.class)}
      disabled={own.disabled === true || own.busy === true}
      aria-busy={own.busy ? 'true' : undefined}
      {...rest}
    >
      <Show when={own.busy} fallback={<Show when={own.icon}>{(icon) => <Dynamic component={icon()} size={15} aria-hidden="true" />}</Show>}>
        <LoaderCircle size={15} class="animate-spin" aria-hidden="true" />
      </Show>
      {own.children}
    </button>
  )
}
