import { exactTime, relativeTime } from '../lib/time.ts'
import { useMinutes } from '../lib/now.ts'
import { locale } from '../lib/language.ts'

/** How long ago, or how long until; the exact moment on hover. */
export function Time(props: { at: number; class?: string }) {
  const now = useMinutes()
  return (
    <time
      dateTime={new Date(props.at).toISOString()}
      title={exactTime(props.at, locale())}
      class={`whitespace-nowrap ${props.class ?? ''}`}
    >
      {relativeTime(props.at, now(), locale())}
    </time>
  )
}
