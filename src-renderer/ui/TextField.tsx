import { type JSX, onMount, Show, splitProps } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { focusSoon } from '../lib/focus.ts'
import { FIELD_CLASS, type FieldProps } from './field.ts'
import { FieldFrame } from './FieldFrame.tsx'
import type { Icon } from './icon.ts'

export type TextFieldProps = FieldProps &
  Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'onInput' | 'onChange' | 'value'> & {
    value: string
    onValue: (value: string) => void
    icon?: Icon
    /** Shown inside, at the right. */
    trailing?: JSX.Element
    mono?: boolean
    /** The first field of something new: it has the focus. */
    isFirst?: boolean
  }

export function TextField(props: TextFieldProps) {
  const [own, rest] = splitProps(props, [
    'label',
    'hideLabel',
    'hint',
    'problem',
    'optional',
    'value',
    'onValue',
    'icon',
    'trailing',
    'mono',
    'isFirst',
    'class',
  ])
  let input: HTMLInputElement | undefined
  onMount(() => own.isFirst && focusSoon(() => input))
  return (
    <FieldFrame {...own}>
      {(aria) => (
        <div class="relative">
          <Show when={own.icon}>
            {(icon) => (
              <span class="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-ink-3">
                <Dynamic component={icon()} size={14} aria-hidden="true" />
              </span>
            )}
          </Show>
          <input
            ref={(element) => (input = element)}
            type="text"
            autocomplete="off"
            spellcheck={false}
            {...rest}
            {...aria()}
            class={`${FIELD_CLASS} h-8 ${own.icon ? 'pl-8' : ''} ${own.trailing ? 'pr-10' : ''} ${own.mono ? 'font-mono text-xs' : ''}`}
            value={own.value}
            onInput={(event) => own.onValue(event.currentTarget.value)}
          />
          <Show when={own.trailing}>
            <span class="absolute inset-y-0 right-1 flex items-center">{own.trailing}</span>
          </Show>
        </div>
      )}
    </FieldFrame>
  )
}
