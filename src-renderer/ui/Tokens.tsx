import { compactText, countText } from '../kit/numbers.ts'
import { locale, words } from '../kit/words/words.ts'

/** Tokens in and out, rounded; the exact figures on hover. */
export function Tokens(props: { input: number; output: number; cached?: number; class?: string }) {
  const exact = () => {
    const text = words().common.tokensInOut(countText(props.input, locale()), countText(props.output, locale()))
    return props.cached ? `${text}\n${words().common.tokensCached(countText(props.cached, locale()))}` : text
  }
  return (
    <span class={`whitespace-nowrap tabular-nums ${props.class ?? ''}`} title={exact()}>
      {words().common.tokensInOut(compactText(props.input, locale()), compactText(props.output, locale()))}
    </span>
  )
}
