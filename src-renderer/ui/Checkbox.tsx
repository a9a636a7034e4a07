import { Checkbox as Kobalte } from '@kobalte/core/checkbox'
import Check from 'lucide-solid/icons/check'
import { Show } from 'solid-js'

export function Checkbox(props: {
  label: string
  hint?: string
  checked: boolean
  onChecked: (checked: boolean) => void
  disabled?: boolean
}) {
  return (
    <Kobalte
      checked={props.checked}
      onChange={props.onChecked}
      disabled={props.disabled}
      class="relative flex items-start gap-2.5 max-md:min-h-10"
    >
      <Kobalte.Input class="peer" />
      <Kobalte.Control class="mt-0.5 max-md:mt-3 flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent-ink data-checked:border-accent data-checked:bg-accent data-checked:text-on-accent">
        <Kobalte.Indicator>
          <Check size={12} stroke-width={3} aria-hidden="true" />
        </Kobalte.Indicator>
      </Kobalte.Control>
      <div class="min-w-0">
        <Kobalte.Label class="block text-sm text-ink after:absolute after:inset-0 max-md:pt-2.5">{props.label}</Kobalte.Label>
        <Show when={props.hint}>
          <Kobalte.Description class="text-xs text-ink-3">{props.hint}</Kobalte.Description>
        </Show>
      </div>
    </Kobalte>
  )
}
