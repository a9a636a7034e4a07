import { A, type AnchorProps } from '@solidjs/router'
import { Show, splitProps } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { type ButtonLook, buttonClass } from './Button.tsx'

/** A link that looks like a button. */
export function ButtonLink(props: ButtonLook & AnchorProps) {
  const [own, rest] = splitProps(props, ['variant', 'size', 'icon', 'class', 'children'])
  return (
    <A class={buttonClass(own, own.class)} {...rest}>
      <Show when={own.icon}>{(icon) => <Dynamic component={icon()} size={15} aria-hidden="true" />}</Show>
      {own.children}
    </A>
  )
}
