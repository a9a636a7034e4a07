import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { messageOf } from '../../lib/errors.ts'

/** A server that sends more than this is not one that answers calls. Servers that report progress send a few a second. */
const MAX_MESSAGES = 2_000
const WINDOW_MS = 10_000

/**
 * Closes a connection whose server floods it, since each message costs time of the one thread that runs all jobs. One that the library
 * cannot handle is an error: otherwise the library of the older protocol would stop reading, and leave the connection open.
 */
export function limitMessages(transport: Transport, monotonic: () => number, onFlood: () => void): Transport {
  let windowStart = monotonic()
  let messages = 0
  let isFlooded = false
  // The library sets `onmessage` just before it calls `start`, and messages come after that: only then can it be replaced.
  const start = transport.start.bind(transport)
  transport.start = async () => {
    const { onmessage } = transport
    transport.onmessage = (message, extra) => {
      if (isFlooded) return
      const now = monotonic()
      if (now - windowStart > WINDOW_MS) {
        windowStart = now
        messages = 0
      }
      if (++messages > MAX_MESSAGES) {
        isFlooded = true
        onFlood()
        return void transport.close()
      }
      try {
        onmessage?.(message, extra)
      } catch (thrown) {
        transport.onerror?.(new Error(`a message that cannot be handled: ${messageOf(thrown)}`))
      }
    }
    await start()
  }
  return transport
}
