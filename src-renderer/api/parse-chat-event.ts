import type { EventSourceMessage } from 'eventsource-parser'
import { ChatStreamEvent } from '../../src-runner/contract/jobs.ts'

/** Returns null for an event that this page does not know. */
export function parseChatEvent({ event, data }: EventSourceMessage): ChatStreamEvent | null {
  return ChatStreamEvent.safeParse({ ...asObject(data), type: event }).data ?? null
}

function asObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
