import type { Database } from '../../platform/db/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { NotificationKind, NotificationSettings } from '../../contract/notifications.ts'
import type { Notification } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { listChannels } from '../../domain/channels/channels.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import {
  notificationFor,
  notificationOfDatabase,
  summaryOf,
  summaryOfAll,
  type Candidate,
  type NotificationSources,
} from './notification-for.ts'
import { isQuiet } from './quiet-hours.ts'

export type NotificationsDeps = NotificationSources & {
  db: Database
  clock: Clock
  log: Log
  timezone(): string
  tell(notification: Notification): void
}

export type Notifications = { onEvent(event: StoredEvent): void; close(): void }

/** Notifications of one kind that are shown singly within a minute. The rest follows as one when the minute is over. */
const SINGLY = 5
const WINDOW_MS = 60_000
const LOOK_EVERY_MS = 30_000
const MOST_HELD = 1000

/** `counted`: shown singly in this minute. */
type Window = { endsAt: number; counted: number; isStorm: boolean; more: Candidate[] }

/**
 * Notifies a person of what happened: the kinds they chose, not in their quiet hours, and not each of a burst. What waits for
 * the end of the quiet hours is in memory only, because the page shows all of it anyway.
 */
export function createNotifications(deps: NotificationsDeps): Notifications {
  const { db, clock, tell } = deps
  const windows = new Map<NotificationKind, Window>()
  let held: Candidate[] = []
  /** Channels already reported as logged out: their rows change for other reasons too. */
  const loggedOut = new Set(listChannels(db).flatMap(({ id, status }) => (status === 'logged_out' ? [id] : [])))
  let isUnreachable = false
  const closing = new AbortController()

  function onEvent(event: StoredEvent): void {
    if (event.type === 'settings.changed') release()
    const found = notificationFor(event, deps)
    if (!isNews(event, found)) return
    const settings = readSettings(db).notifications
    if (!settings.kinds[found.notification.kind]) return
    if (!isQuietNow(settings)) show(found)
    else if (held.length < MOST_HELD) held.push(found)
  }

  /** A state is reported when it begins. */
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
    const { kind } = found.notification
    const now = clock.monotonic()
    const open = windows.get(kind)
    if (open === undefined || open.endsAt <= now) {
      windows.set(kind, { endsAt: now + WINDOW_MS, counted: 1, isStorm: false, more: [] })
      tell(found.notification)
    } else if (!open.isStorm && open.counted < SINGLY) {
      open.counted++
      tell(found.notification)
    } else if (open.more.push(found) === 1) {
      clock.sleep(open.endsAt - now, closing.signal).then(
        () => attempt(() => endStorm(kind, open)),
        () => {},
      )
    }
  }

  function endStorm(kind: NotificationKind, { counted, more }: Window): void {
    const settings = readSettings(db).notifications
    const still = more.filter((one) => one.isStill())
    // While the burst lasts, the next minute starts where this one ended.
    windows.set(kind, { endsAt: clock.monotonic() + WINDOW_MS, counted: 0, isStorm: true, more: [] })
    if (!settings.kinds[kind]) return
    if (isQuietNow(settings)) held.push(...still)
    else if (still.length === 1) tell(still[0]!.notification)
    else if (still.length > 1) tell(summaryOf(kind, counted + still.length))
  }

  /** After the quiet hours: of what happened in them, what is still true. */
  function release(): void {
    if (held.length === 0) return
    const settings = readSettings(db).notifications
    if (isQuietNow(settings)) return
    const still = held.filter((one) => settings.kinds[one.notification.kind] && one.isStill()).map((one) => one.notification)
    held = []
    if (still.length > 0) tell(still.length === 1 ? still[0]! : summaryOfAll(still))
  }

  function isQuietNow({ quietHours }: NotificationSettings): boolean {
    return isQuiet(quietHours, clock.now(), deps.timezone())
  }

  /** A database that cannot be read costs one notification, not the process. */
  function attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      deps.log.warn({ error }, `a notification was not told: ${messageOf(error)}`)
    }
  }

  const stopWatching = db.condition.onChange((trouble) => {
    if (trouble !== null) tell(notificationOfDatabase(trouble))
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
