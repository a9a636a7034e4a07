import { Show } from 'solid-js'
import { moneyText } from '../../resources/locales/numbers.ts'
import { locale, t } from '../lib/language.ts'

/** A cost. An unpriced one is shown as such, never as zero. `atLeast`: not all of it is known. */
export function Money(props: { usd: number; priced?: boolean; atLeast?: boolean; class?: string }) {
  const priced = () => props.priced !== false
  const amount = () => moneyText(props.usd, locale())
  return (
    <span class={`whitespace-nowrap tabular-nums ${props.class ?? ''}`}>
      <Show when={priced() || props.usd > 0}>{props.atLeast ? t('common.atLeast', { amount: amount() }) : amount()}</Show>
      <Show when={!priced()}>
        <span class="text-warn" title={props.usd > 0 ? t('common.partlyPriced') : t('common.unpricedWhy')}>
          {props.usd > 0 ? ' +' : ''} {t('common.unpriced')}
        </span>
      </Show>
    </span>
  )
}
