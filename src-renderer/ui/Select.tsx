import { Select as Kobalte } from '@kobalte/core/select'
import Check from 'lucide-solid/icons/check'
import ChevronsUpDown from 'lucide-solid/icons/chevrons-up-down'
import { Show } from 'solid-js'
import { FIELD_CLASS, type FieldProps, HINT_CLASS, LABEL_CLASS, PROBLEM_CLASS } from './field.ts'
import { ITEM_CLASS, POPUP_CLASS, TOP_LAYER } from './popup.ts'

export type Option<V extends string> = { value: V; label: string; note?: string; disabled?: boolean }

export type SelectProps<V extends string> = FieldProps & {
  options: Option<V>[]
  value: V | null
  onValue: (value: V) => void
  placeholder?: string
  disabled?: boolean
  size?: 'sm' | 'md'
  /** Without a border, inside something that has one. */
  bare?: boolean
  class?: string
}

/** Choice of one of up to a dozen; use `Combobox` for more. `onValue` is called only for a change; Kobalte also reports set values. */
export function Select<V extends string>(props: SelectProps<V>) {
  const chosen = () => props.options.find((option) => option.value === props.value) ?? null
  return (
    <Kobalte<Option<V>>
      options={props.options}
      optionValue="value"
      optionTextValue="label"
      optionDisabled="disabled"
      value={chosen()}
      onChange={(option) => option && option.value !== props.value && props.onValue(option.value)}
      placeholder={props.placeholder ?? ''}
      disabled={props.disabled}
      validationState={props.problem ? 'invalid' : 'valid'}
      gutter={4}
      sameWidth={false}
      class={`flex min-w-0 flex-col gap-1.5 ${props.class ?? ''}`}
      itemComponent={(item) => (
        <Kobalte.Item item={item.item} class={ITEM_CLASS}>
          <span class="flex min-w-0 flex-col">
            <Kobalte.ItemLabel class="wrap-anywhere">{item.item.rawValue.label}</Kobalte.ItemLabel>
            <Show when={item.item.rawValue.note}>
              <Kobalte.ItemDescription class="text-xs text-ink-3">{item.item.rawValue.note}</Kobalte.ItemDescription>
            </Show>
          </span>
          <Kobalte.ItemIndicator class="ml-auto pl-3">
            <Check size={14} aria-hidden="true" />
          </Kobalte.ItemIndicator>
        </Kobalte.Item>
      )}
    >
      <Kobalte.Label class={props.hideLabel ? 'sr-only' : LABEL_CLASS}>{props.label}</Kobalte.Label>
      <Kobalte.Trigger
        class={`flex items-center gap-2 text-left ${
          props.bare
            ? 'w-full rounded-md px-2 py-1.5 text-xs text-ink-2 hover:bg-hover hover:text-ink'
            : `${FIELD_CLASS} ${props.size === 'sm' ? 'py-[3px]' : 'py-[5px]'}`
        }`}
      >
        <Kobalte.Value<Option<V>> class="min-w-0 flex-1 wrap-anywhere data-placeholder-shown:text-ink-3">
          {(state) => state.selectedOption()?.label}
        </Kobalte.Value>
        <Kobalte.Icon class="shrink-0 text-ink-3">
          <ChevronsUpDown size={13} aria-hidden="true" />
        </Kobalte.Icon>
      </Kobalte.Trigger>
      <Show when={props.hint && !props.problem}>
        <Kobalte.Description class={HINT_CLASS}>{props.hint}</Kobalte.Description>
      </Show>
      <Kobalte.ErrorMessage class={PROBLEM_CLASS}>{props.problem}</Kobalte.ErrorMessage>
      <Kobalte.Portal>
        <Kobalte.Content {...TOP_LAYER} class={POPUP_CLASS} data-popup="">
          <Kobalte.Listbox class="scroll-quiet max-h-80 min-w-40 overflow-y-auto p-1 outline-none" data-popup="" />
        </Kobalte.Content>
      </Kobalte.Portal>
    </Kobalte>
  )
}
