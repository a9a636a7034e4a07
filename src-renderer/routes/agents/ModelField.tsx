import ArrowDown from 'lucide-solid/icons/arrow-down'
import ArrowUp from 'lucide-solid/icons/arrow-up'
import X from 'lucide-solid/icons/x'
import { For, type JSX, Show } from 'solid-js'
import { DEMO_PROVIDER_ID, type ModelRef } from '../../../src-runner/contract/agents.ts'
import type { RouteAnswer } from '../../../src-runner/contract/routes.ts'
import { t } from '../../lib/language.ts'
import { keyOfModel, modelOfKey } from '../../features/models/model-key.ts'
import { priceOf } from '../../features/models/ModelPicker.tsx'
import { Combobox, type ComboOption } from '../../ui/Combobox.tsx'
import { IconButton } from '../../ui/IconButton.tsx'

type Models = RouteAnswer<'listModels'>

/** The provider's name of a model, if it has one, or the id. */
export function modelLabel(ref: ModelRef, models: Models | undefined): string {
  const listed = models?.models.find((model) => model.providerId === ref.providerId && model.model === ref.model)
  if (listed !== undefined) return listed.label
  return ref.providerId === DEMO_PROVIDER_ID ? t('common.demoModel') : ref.model
}

function optionsOf(models: Models | undefined, chosen: readonly ModelRef[]): ComboOption[] {
  const listed = (models?.models ?? []).map((model) => ({
    value: keyOfModel(model),
    label: model.label,
    group: model.providerName,
    note: priceOf(model),
  }))
  const known = new Set(listed.map((option) => option.value))
  // A model that its provider does not list now is kept.
  const missing = chosen
    .filter((ref) => !known.has(keyOfModel(ref)))
    .map((ref) => ({ value: keyOfModel(ref), label: ref.model, group: t('common.unknown'), note: t('agents.unknownModel') }))
  return [...listed, ...missing]
}

const DEFAULT = 'default'

/** One model, or the default model. */
export function ModelField(props: {
  models: Models | undefined
  value: ModelRef | null
  onValue: (value: ModelRef | null) => void
  problem?: string | null
}): JSX.Element {
  const defaultOption = (): ComboOption => {
    const ref = props.models?.defaultModel ?? null
    return {
      value: DEFAULT,
      label: ref === null ? t('agents.useDefaultNone') : t('agents.useDefault', { label: modelLabel(ref, props.models) }),
      group: t('common.defaultModel'),
    }
  }
  return (
    <Combobox
      label={t('agents.model')}
      hint={t('agents.modelHint')}
      problem={props.problem}
      options={[defaultOption(), ...optionsOf(props.models, props.value === null ? [] : [props.value])]}
      value={props.value === null ? DEFAULT : keyOfModel(props.value)}
      onValue={(key) => props.onValue(key === null || key === DEFAULT ? null : modelOfKey(key))}
    />
  )
}

const MAX_FALLBACKS = 5

/** The models to try, in order, when the first is unavailable. */
export function FallbacksField(props: {
  models: Models | undefined
  value: readonly ModelRef[]
  onValue: (value: ModelRef[]) => void
  problem?: string | null
}): JSX.Element {
  const move = (from: number, to: number) => {
    const next = [...props.value]
    const [moved] = next.splice(from, 1)
    next.splice(to, 0, moved!)
    props.onValue(next)
  }
  const isTaken = (key: string) => props.value.some((ref) => keyOfModel(ref) === key)
  return (
    <div class="flex flex-col gap-2">
      <div>
        <p class="text-sm font-medium text-ink">{t('agents.fallbacks')}</p>
        <p class="text-xs text-ink-3">{t('agents.fallbacksHint')}</p>
      </div>
      <Show when={props.value.length > 0}>
        <ol class="flex flex-col overflow-hidden rounded-lg border border-line">
          <For each={props.value}>
            {(ref, at) => (
              <li class="flex items-center gap-2 border-b border-line px-3 py-1 last:border-b-0">
                <span class="w-4 text-xs text-ink-3">{at() + 1}</span>
                <span class="min-w-0 flex-1 truncate text-sm">{modelLabel(ref, props.models)}</span>
                <IconButton
                  size="sm"
                  icon={ArrowUp}
                  label={t('agents.moveUp', { model: modelLabel(ref, props.models) })}
                  disabled={at() === 0}
                  onClick={() => move(at(), at() - 1)}
                />
                <IconButton
                  size="sm"
                  icon={ArrowDown}
                  label={t('agents.moveDown', { model: modelLabel(ref, props.models) })}
                  disabled={at() === props.value.length - 1}
                  onClick={() => move(at(), at() + 1)}
                />
                <IconButton
                  size="sm"
                  icon={X}
                  label={t('agents.removeFallback', { model: modelLabel(ref, props.models) })}
                  onClick={() => props.onValue(props.value.filter((_, n) => n !== at()))}
                />
              </li>
            )}
          </For>
        </ol>
      </Show>
      <Show when={props.value.length < MAX_FALLBACKS}>
        <Combobox
          label={t('agents.addFallback')}
          hideLabel
          placeholder={t('agents.addFallback')}
          problem={props.problem}
          options={optionsOf(props.models, []).filter((option) => !isTaken(option.value))}
          value={null}
          onValue={(key) => key !== null && props.onValue([...props.value, modelOfKey(key)])}
        />
      </Show>
    </div>
  )
}
