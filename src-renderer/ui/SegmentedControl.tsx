import { RadioGroup } from '@kobalte/core/radio-group'
import { For } from 'solid-js'
import type { Option } from './Select.tsx'

/** One of two to four, all in sight. */
export function SegmentedControl<V extends string>(props: {
  label: string
  options: Option<V>[]
  value: V
  onValue: (value: V) => void
  disabled?: boolean
}) {
  return (
    <RadioGroup value={props.value} onChange={(value) => props.onValue(value as V)} disabled={props.disabled} orientation="horizontal">
      <RadioGroup.Label class="sr-only">{props.label}</RadioGroup.Label>
      <div class="inline-flex rounded-md border border-line bg-inset p-0.5">
        <For each={props.options}>
          {(option) => (
            <RadioGroup.Item value={option.value} disabled={option.disabled} class="relative">
              <RadioGroup.ItemInput class="peer" />
              <RadioGroup.ItemControl class="absolute inset-0 rounded-sm peer-focus-visible:outline-2 peer-focus-visible:outline-accent-ink data-checked:bg-surface data-checked:shadow-card" />
              <RadioGroup.ItemLabel class="relative block rounded-sm px-3 py-0.5 max-md:py-3 text-xs text-ink-2 hover:text-ink data-checked:font-medium data-checked:text-ink">
                {option.label}
              </RadioGroup.ItemLabel>
            </RadioGroup.Item>
          )}
        </For>
      </div>
    </RadioGroup>
  )
}
