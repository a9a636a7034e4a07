import { readlinkSync } from 'node:fs'
import type { Clock } from './clock.ts'

/** The zone changes when people travel. Reading it is slow, so it is cached. */
const FRESH_MS = 60_000
const ZONE_LINK = '/etc/localtime'

/** The machine's time zone as an IANA name, at most a minute old. UTC if the machine names none that is known. */
export function createMachineTimezone(clock: Pick<Clock, 'monotonic'>, readNames = namesOfMachine): () => string {
  let known = ''
  let readAgainAt = -Infinity
  return () => {
    if (clock.monotonic() >= readAgainAt) {
      known = readNames().flatMap(canonicalName)[0] ?? 'UTC'
      readAgainAt = clock.monotonic() + FRESH_MS
    }
    return known
  }
}

/** A running process keeps the zone that it started with. The link is that of now, where the system has one. */
function namesOfMachine(): (string | undefined)[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return process.env['TZ'] === undefined ? [linkedName(), own] : [own]
}

function linkedName(): string | undefined {
  try {
    return readlinkSync(ZONE_LINK).split('/zoneinfo/')[1]
  } catch {
    // A file in place of the link, or Windows.
    return undefined
  }
}

/** None for a name that is no zone: with an empty TZ, the machine says `Etc/Unknown`. */
function canonicalName(timeZone: string | undefined): string[] {
  if (timeZone === undefined) return []
  try {
    return [Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone]
  } catch {
    return []
  }
}
