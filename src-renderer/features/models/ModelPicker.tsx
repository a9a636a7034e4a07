import { createMemo } from 'solid-js'
import type { ModelRef } from '../../../src-runner/contract/agents.ts'
import type { Model } from '../../../src-runner/contract/providers.ts'
import { useModels } from '../../api/queries.ts'
import { priceText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { Combobox, type ComboOption } from '../../ui/Combobox.tsx'
import type { FieldProps } from '../../ui/field.ts'
import { keyOfModel, modelOfKey } from './model-key.ts'

/** The price of a model in a few words. */
export function priceOf(model: Model): string {
  if (model.priceOrigin === 'free') return t('models.picker.free')
  if (model.price === null) return t('common.unpriced')
  const text = (usd: number) => priceText(usd, locale())
  return t('models.picker.price', { input: text(model.price.inputUsdPerMillion), output: text(model.price.outputUsdPerMillion) })
}

export type ModelPickerProps = FieldProps & {
  value: ModelRef | null
  onValue: (model: ModelRef) => void
  /** Only the models of this provider. */
  providerId?: string
  placeholder?: string
  disabled?: boolean
  class?: string
}

/** Choice of a model of any provider by typing. A chosen model that is not listed now stays chosen. */
export function ModelPicker(props: ModelPickerProps) {
  const models = useModels()
  const options = createMemo((): ComboOption[] => {
    const listed = (models.data?.models ?? [])
      .filter((model) => props.providerId === undefined || model.providerId === props.providerId)
      .map((model) => ({ value: keyOfModel(model), label: model.label, group: model.providerName, note: priceOf(model) }))
    const chosen = props.value
    if (chosen === null || listed.some((option) => option.value === keyOfModel(chosen))) return listed
    return [{ value: keyOfModel(chosen), label: t('models.picker.missing', { model: chosen.model }), group: chosen.providerId }, ...listed]
  })
  return (
    <Combobox
      label={props.label}
      hideLabel={props.hideLabel}
      hint={props.hint}
      problem={props.problem}
      optional={props.optional}
      class={props.class}
      disabled={props.disabled}
      options={options()}
      value={props.value === null ? null : keyOfModel(props.value)}
      onValue={(key) => key !== null && props.onValue(modelOfKey(key))}
      placeholder={models.isPending ? t('models.picker.loading') : (props.placeholder ?? t('models.picker.placeholder'))}
    />
  )
}
