import { Show } from 'solid-js'
import { moneyText } from '../../resources/locales/numbers.ts'
import { locale, t } from '../lib/language.ts'

/** What was spent. Not priced: said so, never shown as nothing. */
export function Money(props: { usd: number; priced?: boolean; class?: string }) {
  const priced = () => props.priced !== false
  return (
    <span class={`whitespace-nowrap tabular-nums ${props.class ?? ''}`}>
      <Show when={priced() || props.usd > 0}>{moneyText(props.usd, locale())}</Show>
      <Show when={!priced()}>
        <span class="text-warn" title={props.usd > 0 ? t('common.partlyPriced') : t('common.unpricedWhy')}>
          {props.usd > 0 ? ' +' : ''} {t('common.unpriced')}
        </span>
      </Show>
    </span>
  )
}
