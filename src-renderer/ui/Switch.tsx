import { Switch as Kobalte } from '@kobalte/core/switch'
import { Show } from 'solid-js'

/** A setting that takes effect at once. The label is at the left, the switch at the right; pressing either toggles it. */
export function Switch(props: {
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
      class="relative flex items-center gap-4 max-md:min-h-10"
    >
      <div class="min-w-0 flex-1">
        <Kobalte.Label class="block text-sm text-ink after:absolute after:inset-0">{props.label}</Kobalte.Label>
        <Show when={props.hint}>
          <Kobalte.Description class="block text-xs text-ink-3">{props.hint}</Kobalte.Description>
        </Show>
      </div>
      <Kobalte.Input class="peer" />
      <Kobalte.Control class="flex h-4.5 w-8 shrink-0 items-center rounded-full bg-line-strong px-0.5 transition-colors duration-100 peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent-ink data-checked:bg-accent data-disabled:opacity-45">
        <Kobalte.Thumb class="size-3.5 rounded-full bg-surface shadow-card transition-transform duration-100 data-checked:translate-x-3.5" />
      </Kobalte.Control>
    </Kobalte>
  )
}
