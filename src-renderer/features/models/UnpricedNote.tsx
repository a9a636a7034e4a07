import { A } from '@solidjs/router'
import { Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { useModels, useSettings } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'

/** Warns beside a spending limit that models of these agents have no price, so that the limit does not cover them. */
export function UnpricedNote(props: { agents: readonly Pick<Agent, 'model' | 'fallbacks'>[] }) {
  const models = useModels()
  const settings = useSettings()
  const names = () => {
    const used = props.agents.flatMap((agent) => [agent.model ?? settings.data?.settings.defaultModel ?? null, ...agent.fallbacks])
    const unpriced = (models.data?.models ?? []).filter(
      ({ priceOrigin, providerId, model }) =>
        priceOrigin === 'unknown' && used.some((ref) => ref?.providerId === providerId && ref.model === model),
    )
    return unpriced.map(({ label }) => label).join(', ')
  }
  return (
    <Show when={names()}>
      {(listed) => (
        <p role="note" class="mt-3 text-xs text-warn wrap-break-word">
          {t('models.unpricedLimit', { names: listed() })}{' '}
          <A href="/models" class="underline">
            {t('models.setPrices')}
          </A>
        </p>
      )}
    </Show>
  )
}
