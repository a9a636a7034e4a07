import { createEffect, type JSX, onCleanup, onMount, splitProps } from 'solid-js'
import { FIELD_CLASS, type FieldProps } from './field.ts'
import { FieldFrame } from './FieldFrame.tsx'

export type TextAreaProps = FieldProps &
  Omit<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>, 'onInput' | 'onChange' | 'value' | 'ref'> & {
    value: string
    onValue: (value: string) => void
    /** Grows with its text up to this many rows; fixed without it. */
    maxRows?: number
    mono?: boolean
    /** No border of its own, for a composer that draws one around more than the text. */
    bare?: boolean
    ref?: (element: HTMLTextAreaElement) => void
  }

export function TextArea(props: TextAreaProps) {
  const [own, rest] = splitProps(props, [
    'label',
    'hideLabel',
    'hint',
    'problem',
    'optional',
    'value',
    'onValue',
    'maxRows',
    'mono',
    'bare',
    'class',
    'ref',
  ])
  let area!: HTMLTextAreaElement
  const fit = () => {
    if (own.maxRows === undefined) return
    area.style.height = 'auto'
    const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 20
    area.style.height = `${Math.min(area.scrollHeight + 2, line * own.maxRows + 16)}px`
  }
  createEffect(() => {
    void own.value
    fit()
  })
  // Lines break again in another width; in a part that is not shown yet there is none to measure.
  onMount(() => {
    let width = area.clientWidth
    const sizes = new ResizeObserver(() => {
      if (area.clientWidth === width) return
      width = area.clientWidth
      fit()
    })
    sizes.observe(area)
    onCleanup(() => sizes.disconnect())
  })
  return (
    <FieldFrame {...own}>
      {(aria) => (
        <textarea
          rows={3}
          {...rest}
          {...aria()}
          ref={(element) => {
            area = element
            own.ref?.(element)
          }}
          class={`${own.bare ? 'w-full bg-transparent px-3 text-md placeholder:text-ink-3 focus:outline-none' : FIELD_CLASS} scroll-quiet block resize-none py-2 leading-5 ${
            own.mono ? 'font-mono text-xs' : ''
          }`}
          value={own.value}
          onInput={(event) => own.onValue(event.currentTarget.value)}
        />
      )}
    </FieldFrame>
  )
}
