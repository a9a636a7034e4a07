import type { DiscordApi, Result } from './discord-api.ts'
import type { ReadInteraction } from './messages.ts'

/** Answers to pressed buttons and chosen commands. */
export type Presses = {
  /** Tells the service at once that the press has arrived. It waits three seconds. */
  acknowledge(interaction: ReadInteraction): void
  /** Shows a note to the person who pressed. */
  answer(pressId: string, note: string): Promise<void>
}

const UPDATE_LATER = 6
const MESSAGE = 4
/** Only the person who pressed sees it. */
const EPHEMERAL = 64
const MAX_OPEN = 200
const MAX_NOTE_CHARS = 2000

export function createPresses(api: DiscordApi, signal: AbortSignal): Presses {
  const open = new Map<string, { token: string; isAcknowledged: Promise<Result<unknown>> }>()
  return {
    acknowledge({ id, token, press }) {
      const data = { content: '✅', flags: EPHEMERAL, allowed_mentions: { parse: [] } }
      const body = press === undefined ? { type: MESSAGE, data } : { type: UPDATE_LATER }
      const isAcknowledged = api.call('POST', `/interactions/${id}/${encodeURIComponent(token)}/callback`, { signal, body })
      if (press === undefined) return
      open.set(id, { token, isAcknowledged })
      if (open.size > MAX_OPEN) open.delete(open.keys().next().value!)
    },
    async answer(pressId, note) {
      const press = open.get(pressId)
      if (press === undefined) return
      open.delete(pressId)
      const token = encodeURIComponent(press.token)
      const data = { content: note.slice(0, MAX_NOTE_CHARS).toWellFormed(), flags: EPHEMERAL, allowed_mentions: { parse: [] } }
      const first = await press.isAcknowledged
      if (first.ok) await api.call('POST', `/webhooks/${api.applicationId}/${token}`, { signal, body: data })
      else await api.call('POST', `/interactions/${pressId}/${token}/callback`, { signal, body: { type: MESSAGE, data } })
    },
  }
}
