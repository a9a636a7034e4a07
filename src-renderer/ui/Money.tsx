import { Show } from 'solid-js'
import { moneyText } from '../../resources/locales/numbers.ts'
import { locale, t } from '../lib/language.ts'

/** A cost. An unpriced one is shown as such, never as zero. */
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
