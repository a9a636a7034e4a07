import { durationText } from '../lib/time.ts'
import { useSeconds } from '../lib/now.ts'
import { locale } from '../lib/language.ts'

/** A length of time, in a width that does not jump. */
export function Duration(props: { ms: number; class?: string }) {
  return <span class={`whitespace-nowrap tabular-nums ${props.class ?? ''}`}>{durationText(props.ms, locale())}</span>
}

/** Time since a moment, counting on. */
export function Elapsed(props: { since: number; class?: string }) {
  const now = useSeconds()
  return <Duration ms={Math.max(0, now() - props.since)} class={props.class} />
}
