import { Combobox as Kobalte, type ComboboxRootOptions } from '@kobalte/core/combobox'
import Check from 'lucide-solid/icons/check'
import ChevronsUpDown from 'lucide-solid/icons/chevrons-up-down'
import { createSignal, Show } from 'solid-js'
import { matchesWords } from '../lib/text.ts'
import { t } from '../lib/language.ts'
import { FIELD_CLASS, type FieldProps, HINT_CLASS, LABEL_CLASS, PROBLEM_CLASS } from './field.ts'
import { ITEM_CLASS, POPUP_CLASS, TOP_LAYER } from './popup.ts'

export type ComboOption = { value: string; label: string; group: string; note?: string }
type Group = { label: string; options: ComboOption[] }

export type ComboboxProps = FieldProps & {
  options: ComboOption[]
  value: string | null
  onValue: (value: string | null) => void
  placeholder?: string
  disabled?: boolean
  /** The most options listed at once, for lists that would be slow to render. Typing more finds the rest. */
  limit?: number
  class?: string
}

/** Choice of one of many by typing. Lists all options until the text differs from the chosen one. Options are grouped by name. */
export function Combobox(props: ComboboxProps) {
  const [isEmpty, setEmpty] = createSignal(false)
  const groups = (): Group[] => {
    const byName = new Map<string, Group>()
    for (const option of props.options) {
      const group = byName.get(option.group) ?? { label: option.group, options: [] }
      group.options.push(option)
      byName.set(option.group, group)
    }
    return [...byName.values()]
  }
  const chosen = () => props.options.find((option) => option.value === props.value) ?? null
  const matches = (option: ComboOption, query: string) => matchesWords(`${option.group} ${option.label} ${option.value}`, query)
  let listed: { query: string; options: ComboOption[]; values: Set<string> } | undefined
  /** Kobalte filters each option by itself, so the options within the limit are computed once for each query. */
  const isListed = (option: ComboOption, typed: string) => {
    const query = typed === chosen()?.label ? '' : typed
    if (props.limit === undefined) return matches(option, query)
    if (listed?.query !== query || listed.options !== props.options) {
      const found = props.options.filter((one) => matches(one, query)).slice(0, props.limit)
      listed = { query, options: props.options, values: new Set(found.map((one) => one.value)) }
    }
    return listed.values.has(option.value)
  }
  // Kobalte's own texts are always English.
  const announcements = () =>
    ({
      triggerLabel: t('common.combobox.show'),
      listboxLabel: t('common.combobox.list'),
      countAnnouncement: (count: number) => t('common.combobox.count', { count }),
      focusAnnouncement: (option: string, isSelected: boolean) => (isSelected ? t('common.combobox.selected', { option }) : option),
      selectedAnnouncement: (option: string) => t('common.combobox.selected', { option }),
    }) as unknown as NonNullable<ComboboxRootOptions<ComboOption>['translations']>
  return (
    <Kobalte<ComboOption, Group>
      options={groups()}
      optionGroupChildren="options"
      optionValue="value"
      optionTextValue="label"
      optionLabel="label"
      defaultFilter={isListed}
      value={chosen()}
      onChange={(option) => option && option.value !== props.value && props.onValue(option.value)}
      onInputChange={(text) => setEmpty(text !== '' && !props.options.some((option) => matches(option, text)))}
      placeholder={props.placeholder ?? ''}
      disabled={props.disabled}
      validationState={props.problem ? 'invalid' : 'valid'}
      triggerMode="focus"
      translations={announcements()}
      gutter={4}
      allowsEmptyCollection
      class={`flex min-w-0 flex-col gap-1.5 ${props.class ?? ''}`}
      sectionComponent={(section) => (
        <Kobalte.Section class="px-2 pt-2 pb-1 text-2xs font-semibold tracking-wide text-ink-3">
          {section.section.rawValue.label}
        </Kobalte.Section>
      )}
      itemComponent={(item) => (
        <Kobalte.Item item={item.item} class={ITEM_CLASS}>
          <Kobalte.ItemLabel class="min-w-0 truncate">{item.item.rawValue.label}</Kobalte.ItemLabel>
          <span class="ml-auto shrink-0 pl-3 text-xs text-ink-3">{item.item.rawValue.note}</span>
          <Kobalte.ItemIndicator>
            <Check size={14} aria-hidden="true" />
          </Kobalte.ItemIndicator>
        </Kobalte.Item>
      )}
    >
      <Kobalte.Label class={props.hideLabel ? 'sr-only' : LABEL_CLASS}>{props.label}</Kobalte.Label>
      <Kobalte.Control class="relative">
        <Kobalte.Input class={`${FIELD_CLASS} h-8 pr-8`} onFocus={(event) => event.currentTarget.select()} />
        <Kobalte.Trigger class="absolute inset-y-0 right-0 flex w-8 items-center justify-center text-ink-3" tabIndex={-1}>
          <ChevronsUpDown size={13} aria-hidden="true" />
        </Kobalte.Trigger>
      </Kobalte.Control>
      <Show when={props.hint && !props.problem}>
        <Kobalte.Description class={HINT_CLASS}>{props.hint}</Kobalte.Description>
      </Show>
      <Kobalte.ErrorMessage class={PROBLEM_CLASS}>{props.problem}</Kobalte.ErrorMessage>
      <Kobalte.Portal>
        <Kobalte.Content {...TOP_LAYER} class={POPUP_CLASS} data-popup="">
          <Show when={isEmpty()}>
            <p class="px-3 py-2 text-ink-3">{t('common.nothingFound')}</p>
          </Show>
          <Show when={props.limit !== undefined && props.options.length > props.limit}>
            <p class="border-b border-line px-3 py-1.5 text-xs text-ink-3">{t('common.typeToFind')}</p>
          </Show>
          <Kobalte.Listbox class="scroll-quiet max-h-80 overflow-y-auto p-1 outline-none" data-popup="" />
        </Kobalte.Content>
      </Kobalte.Portal>
    </Kobalte>
  )
}
