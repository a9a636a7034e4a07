/** How far each conversation was read: the time of its last message that is on disk. */
export type Position = { since: string; read: ReadonlyMap<string, string> }

const MAX_CONVERSATIONS = 50
const TS = /^\d{10}\.\d{6}$/

/** Our clock and that of Slack may differ by this much. */
const CLOCK_SKEW_S = 60

export const startAt = (now: number): Position => ({ since: `${Math.floor(now / 1000) - CLOCK_SKEW_S}.000000`, read: new Map() })

/** Newest last. Those that fall out are older than `since` afterwards. */
export function advance({ since, read }: Position, { channel, ts }: { channel: string; ts: string }, now: number): Position {
  const before = read.get(channel)
  const present = `${Math.floor(now / 1000) + CLOCK_SKEW_S}.000000`
  // After a time in the future, nothing that is written until then would be read. If the last one was later too, our clock is wrong.
  const isFuture = ts > present && (before ?? since) <= present
  if (isFuture || (before !== undefined && before >= ts)) return { since, read }
  const entries = [...read].filter(([id]) => id !== channel)
  entries.push([channel, ts])
  const dropped = entries.splice(0, Math.max(0, entries.length - MAX_CONVERSATIONS))
  return { since: dropped.reduce((latest, [, at]) => (at > latest ? at : latest), since), read: new Map(entries) }
}

export const readUntil = ({ since, read }: Position, channel: string) => read.get(channel) ?? since

/** `<since>|D…=<time>,C…=<time>` */
export function writePosition({ since, read }: Position): string {
  return `${since}|${[...read].map(([channel, ts]) => `${channel}=${ts}`).join(',')}`
}

/** null: there is none, or it cannot be read. */
export function readPosition(text: string | null): Position | null {
  const [since = '', list = '', ...more] = (text ?? '').split('|')
  if (!TS.test(since) || more.length > 0) return null
  const entries = list === '' ? [] : list.split(',').map((entry) => entry.split('='))
  if (!entries.every(([channel, ts]) => /^[A-Z0-9]{2,30}$/.test(channel ?? '') && TS.test(ts ?? ''))) return null
  return { since, read: new Map(entries.slice(-MAX_CONVERSATIONS) as [string, string][]) }
}
