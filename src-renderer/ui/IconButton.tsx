import { type JSX, splitProps } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Icon } from './icon.ts'
import { Tooltip } from './Tooltip.tsx'

export type IconButtonProps = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'children'> & {
  icon: Icon
  /** Read out, and shown as the tooltip. */
  label: string
  /** Shortcut shown in the tooltip. */
  keys?: string
  size?: 'sm' | 'md'
  tone?: 'plain' | 'bad'
}

export function IconButton(props: IconButtonProps) {
  const [own, rest] = splitProps(props, ['icon', 'label', 'keys', 'size', 'tone', 'class', 'type'])
  return (
    <Tooltip text={own.label} keys={own.keys}>
      <button
        type={own.type ?? 'button'}
        aria-label={own.label}
        class={`inline-flex shrink-0 items-center justify-center rounded-md transition-colors duration-100 disabled:pointer-events-none disabled:opacity-45 ${
          own.size === 'sm' ? 'size-6' : 'size-8'
        } ${own.tone === 'bad' ? 'text-bad hover:bg-bad-soft' : 'text-ink-2 hover:bg-hover hover:text-ink active:bg-pressed'} ${own.class ?? ''}`}
        {...rest}
      >
        <Dynamic component={own.icon} size={own.size === 'sm' ? 14 : 16} aria-hidden="true" />
      </button>
    </Tooltip>
  )
}
