import { compactText, countText } from '../../resources/locales/numbers.ts'
import { locale, t } from '../lib/language.ts'

/** Tokens in and out, rounded; the exact figures on hover. */
export function Tokens(props: {
  input: number
  output: number
  cached?: number
  /** Takes a second line where one has no room. */
  wraps?: boolean
  class?: string
}) {
  const exact = () => {
    const text = t('common.tokensInOut', { input: countText(props.input, locale()), output: countText(props.output, locale()) })
    return props.cached ? `${text}\n${t('common.tokensCached', { cached: countText(props.cached, locale()) })}` : text
  }
  return (
    <span class={`${props.wraps ? '' : 'whitespace-nowrap'} tabular-nums ${props.class ?? ''}`} title={exact()}>
      {t('common.tokensInOut', { input: compactText(props.input, locale()), output: compactText(props.output, locale()) })}
    </span>
  )
}
