import { createUniqueId, For, type JSX, Show } from 'solid-js'
import { Autonomy } from '../../../src-runner/contract/agents.ts'
import { t } from '../../lib/language.ts'
import { Pill } from '../../ui/Pill.tsx'

/** The autonomy levels, each with an explanation. */
export function AutonomyField(props: { value: Autonomy; onValue: (value: Autonomy) => void }): JSX.Element {
  const name = createUniqueId()
  return (
    <fieldset class="flex flex-col gap-2">
      <legend class="sr-only">{t('agents.autonomy')}</legend>
      <For each={Autonomy.options}>
        {(level) => (
          <label
            class={`flex items-start gap-3 rounded-lg border px-3.5 py-2.5 transition-colors duration-100 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent-ink ${
              props.value === level ? 'border-accent bg-accent-soft' : 'border-line hover:border-line-strong'
            }`}
          >
            <input
              type="radio"
              name={name}
              value={level}
              checked={props.value === level}
              onChange={() => props.onValue(level)}
              class="mt-1 accent-accent outline-none"
            />
            <span class="min-w-0">
              <span class="flex items-center gap-2 text-sm font-medium text-ink">
                {t(`agents.autonomyOf.${level}`)}
                <Show when={level === 'ask_when_it_matters'}>
                  <Pill tone="accent">{t('agents.recommended')}</Pill>
                </Show>
              </span>
              <span class="block text-xs text-ink-2">{t(`agents.autonomyText.${level}`)}</span>
            </span>
          </label>
        )}
      </For>
    </fieldset>
  )
}
