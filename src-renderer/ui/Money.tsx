import { Show } from 'solid-js'
import { moneyText } from '../kit/numbers.ts'
import { locale, words } from '../kit/words/words.ts'

/** What was spent. Not priced: said so, never shown as nothing. */
export function Money(props: { usd: number; priced?: boolean; class?: string }) {
  const priced = () => props.priced !== false
  return (
    <span class={`whitespace-nowrap tabular-nums ${props.class ?? ''}`}>
      <Show when={priced() || props.usd > 0}>{moneyText(props.usd, locale())}</Show>
      <Show when={!priced()}>
        <span class="text-warn" title={props.usd > 0 ? words().common.partlyPriced : words().common.unpricedWhy}>
          {props.usd > 0 ? ' +' : ''} {words().common.unpriced}
        </span>
      </Show>
    </span>
  )
}
