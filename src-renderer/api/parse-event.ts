import type { EventSourceMessage } from 'eventsource-parser'
import { LIVE_EVENTS, type LiveEvent, RECORDED_EVENTS, type RecordedEvent } from '../../src-runner/contract/events.ts'

type Parsed = { kind: 'recorded'; event: RecordedEvent } | { kind: 'live'; event: LiveEvent }

/** Returns null for an event whose type or shape this page does not know. */
export function parseEvent({ event = 'message', data }: EventSourceMessage): Parsed | null {
  let payload: unknown
  try {
    payload = JSON.parse(data)
  } catch {
    return null
  }
  if (event in RECORDED_EVENTS) {
    const type = event as keyof typeof RECORDED_EVENTS
    const parsed = RECORDED_EVENTS[type].safeParse(payload)
    return parsed.success ? { kind: 'recorded', event: { type, payload: parsed.data } as RecordedEvent } : null
  }
  if (event in LIVE_EVENTS) {
    const type = event as keyof typeof LIVE_EVENTS
    const parsed = LIVE_EVENTS[type].safeParse(payload)
    return parsed.success ? { kind: 'live', event: { type, payload: parsed.data } as LiveEvent } : null
  }
  return null
}
