import type { Database } from '../../base/db/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { NoticeKind, NotificationSettings } from '../../contract/notifications.ts'
import type { Notice } from '../../contract/port.ts'
import type { Clock } from '../../kit/clock.ts'
import { messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { listChannels } from '../../records/channels/channels.ts'
import { readSettings } from '../../records/settings/settings.ts'
import { noticeFor, noticeOfDatabase, summaryOf, summaryOfAll, type Candidate, type NoticeSources } from './notice-for.ts'
import { isQuiet } from './quiet-hours.ts'

export type NoticesDeps = NoticeSources & { db: Database; clock: Clock; log: Log; timezone(): string; tell(notice: Notice): void }

export type Notices = { onEvent(event: StoredEvent): void; close(): void }

/** So many of one kind are shown one by one within a minute; the others come together when it is over. */
const SINGLY = 5
const WINDOW_MS = 60_000
/** How soon after the quiet hours what waited is told. */
const LOOK_EVERY_MS = 30_000
/** More than anybody would read the next morning. */
const MOST_HELD = 1000

/** `counted`: what was shown singly of the storm that `more` belongs to. */
type Window = { endsAt: number; counted: number; isStorm: boolean; more: Candidate[] }

/**
 * Tells a person what happened while the window may be closed: by the kinds that they want, not in their quiet hours, and
 * not each of a storm. What waits for the end of the quiet hours waits in memory: the page shows all of it in any case.
 */
export function createNotices(deps: NoticesDeps): Notices {
  const { db, clock, tell } = deps
  const windows = new Map<NoticeKind, Window>()
  let held: Candidate[] = []
  /** Channels of which was told that they are logged out: their rows change for other reasons too. */
  const loggedOut = new Set(listChannels(db).flatMap(({ id, status }) => (status === 'logged_out' ? [id] : [])))
  let isUnreachable = false
  const closing = new AbortController()

  function onEvent(event: StoredEvent): void {
    if (event.type === 'settings.changed') release()
    const found = noticeFor(event, deps)
    if (!isNews(event, found)) return
    const settings = readSettings(db).notifications
    if (!settings.kinds[found.notice.kind]) return
    if (!isQuietNow(settings)) show(found)
    else if (held.length < MOST_HELD) held.push(found)
  }

  /** States are told of when they begin. */
  function isNews(event: StoredEvent, found: Candidate | null): found is Candidate {
    if (event.type === 'public_address.changed') {
      const was = isUnreachable
      isUnreachable = found !== null
      return found !== null && !was
    }
    if (event.type === 'channel.changed') {
      const was = loggedOut.has(event.payload.channelId)
      if (found === null) loggedOut.delete(event.payload.channelId)
      else loggedOut.add(event.payload.channelId)
      return found !== null && !was
    }
    return found !== null
  }

  function show(found: Candidate): void {
    const { kind } = found.notice
    const now = clock.monotonic()
    const open = windows.get(kind)
    if (open === undefined || open.endsAt <= now) {
      windows.set(kind, { endsAt: now + WINDOW_MS, counted: 1, isStorm: false, more: [] })
      tell(found.notice)
    } else if (!open.isStorm && open.counted < SINGLY) {
      open.counted++
      tell(found.notice)
    } else if (open.more.push(found) === 1) {
      clock.sleep(open.endsAt - now, closing.signal).then(
        () => attempt(() => endStorm(kind, open)),
        () => {},
      )
    }
  }

  function endStorm(kind: NoticeKind, { counted, more }: Window): void {
    const settings = readSettings(db).notifications
    const still = more.filter((one) => one.isStill())
    // As long as it goes on, the next minute begins where this one ended.
    windows.set(kind, { endsAt: clock.monotonic() + WINDOW_MS, counted: 0, isStorm: true, more: [] })
    if (!settings.kinds[kind]) return
    if (isQuietNow(settings)) held.push(...still)
    else if (still.length === 1) tell(still[0]!.notice)
    else if (still.length > 1) tell(summaryOf(kind, counted + still.length))
  }

  /** After the quiet hours: what is still true of what happened in them. */
  function release(): void {
    if (held.length === 0) return
    const settings = readSettings(db).notifications
    if (isQuietNow(settings)) return
    const still = held.filter((one) => settings.kinds[one.notice.kind] && one.isStill()).map((one) => one.notice)
    held = []
    if (still.length > 0) tell(still.length === 1 ? still[0]! : summaryOfAll(still))
  }

  function isQuietNow({ quietHours }: NotificationSettings): boolean {
    return isQuiet(quietHours, clock.now(), deps.timezone())
  }

  /** A database that cannot be read just now costs a notice, not the process. */
  function attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      deps.log.warn({ error }, `a notice was not told: ${messageOf(error)}`)
    }
  }

  const stopWatching = db.condition.onChange((trouble) => {
    if (trouble !== null) tell(noticeOfDatabase(trouble))
  })
  const stopLooking = clock.every(LOOK_EVERY_MS, () => attempt(release))
  return {
    onEvent,
    close() {
      stopLooking()
      stopWatching()
      closing.abort(new Error('the app stops'))
    },
  }
}
