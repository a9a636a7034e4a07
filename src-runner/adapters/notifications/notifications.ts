import type { Services } from '../../platform/services.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { NotificationKind, NotificationSettings } from '../../contract/notifications.ts'
import type { Notification } from '../../contract/port.ts'
import { listCredentials } from '../../domain/credentials/credentials.ts'
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

export type NotificationsDeps = NotificationSources &
  Pick<Services, 'db' | 'clock'> & {
    timezone(): string
    notify(notification: Notification): void
  }

/** Notifications of one kind that are shown one by one within a minute. The rest follows as one when the minute is over. */
const MAX_SINGLE = 5
const WINDOW_MS = 60_000
const CHECK_EVERY_MS = 30_000
const MAX_HELD = 1000

/** `shown`: shown one by one in this minute. */
type Window = { endsAt: number; shown: number; isBurst: boolean; more: Candidate[]; cancel(): void }

/**
 * Notifies a person of what happened: only of the kinds they chose, not in their quiet hours, and once for a burst.
 * Notifications held until the quiet hours end are in memory only, because the page shows them anyway.
 */
export function createNotifications(deps: NotificationsDeps) {
  const { db, clock, notify } = deps
  const windows = new Map<NotificationKind, Window>()
  let held: Candidate[] = []
  /** Channels already reported as logged out: their rows change for other reasons too. */
  const loggedOut = new Set(listChannels(db).flatMap(({ id, status }) => (status === 'logged_out' ? [id] : [])))
  /** The same for accounts. */
  const signedOut = new Set(listCredentials(db).flatMap(({ id, status }) => (status === 'needs_sign_in' ? [id] : [])))
  let isUnreachable = false

  function onEvent(event: StoredEvent): void {
    if (event.type === 'settings.changed') release()
    const found = notificationFor(event, deps)
    if (!isNews(event, found)) return
    const settings = readSettings(db).notifications
    if (!settings.kinds[found.notification.kind]) return
    if (!isQuietNow(settings)) show(found)
    else if (held.length < MAX_HELD) held.push(found)
  }

  /** A state is reported when it begins. */
  function isNews(event: StoredEvent, found: Candidate | null): found is Candidate {
    if (event.type === 'public_address.changed') {
      const was = isUnreachable
      isUnreachable = found !== null
      return found !== null && !was
    }
    if (event.type === 'channel.changed') return isChange(loggedOut, event.payload.channelId, found)
    if (event.type === 'credential.changed') return isChange(signedOut, event.payload.credentialId, found)
    return found !== null
  }

  function isChange(known: Set<string>, id: string, found: Candidate | null): found is Candidate {
    const was = known.has(id)
    if (found === null) known.delete(id)
    else known.add(id)
    return found !== null && !was
  }

  function show(found: Candidate): void {
    const { kind } = found.notification
    const now = clock.monotonic()
    const open = windows.get(kind)
    if (open === undefined || open.endsAt <= now) {
      windows.set(kind, { endsAt: now + WINDOW_MS, shown: 1, isBurst: false, more: [], cancel() {} })
      notify(found.notification)
    } else if (!open.isBurst && open.shown < MAX_SINGLE) {
      open.shown++
      notify(found.notification)
    } else if (open.more.push(found) === 1) {
      open.cancel = clock.after(open.endsAt - now, () => endWindow(kind, open))
    }
  }

  function endWindow(kind: NotificationKind, { shown, more }: Window): void {
    const settings = readSettings(db).notifications
    const still = more.filter((one) => one.isStill())
    // While the burst lasts, the next minute starts where this one ended.
    windows.set(kind, { endsAt: clock.monotonic() + WINDOW_MS, shown: 0, isBurst: true, more: [], cancel() {} })
    if (!settings.kinds[kind]) return
    if (isQuietNow(settings)) held.push(...still)
    else if (still.length === 1) notify(still[0]!.notification)
    else if (still.length > 1) notify(summaryOf(kind, shown + still.length))
  }

  /** After the quiet hours, notifies of what happened in them and is still true. */
  function release(): void {
    if (held.length === 0) return
    const settings = readSettings(db).notifications
    if (isQuietNow(settings)) return
    const still = held.filter((one) => settings.kinds[one.notification.kind] && one.isStill()).map((one) => one.notification)
    held = []
    if (still.length > 0) notify(still.length === 1 ? still[0]! : summaryOfAll(still))
  }

  function isQuietNow({ quietHours }: NotificationSettings): boolean {
    return isQuiet(quietHours, clock.now(), deps.timezone())
  }

  const stopWatching = db.condition.onChange((trouble) => trouble !== null && notify(notificationOfDatabase(trouble)))
  const stopChecking = clock.every(CHECK_EVERY_MS, release)
  return {
    onEvent,
    close(): void {
      stopWatching()
      stopChecking()
      for (const { cancel } of windows.values()) cancel()
    },
  }
}
