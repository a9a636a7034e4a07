import { createEffect, createSignal, on, onCleanup } from 'solid-js'
import type { Pairing } from '../../src-runner/contract/messenger.ts'
import { useApi } from './ApiProvider.tsx'

const POLL_MS = 1000

/** How far the messenger of an agent is paired, asked every second from the first `start` on. */
export function usePairing(agentId: () => string) {
  const { client } = useApi()
  const [pairing, setPairing] = createSignal<Pairing | null>(null)
  const [error, setError] = createSignal<unknown>(null)
  const [isStarting, setStarting] = createSignal(false)
  let timer: ReturnType<typeof setInterval> | undefined

  let isOver = false

  async function poll(): Promise<void> {
    if (isStarting()) return
    const of = agentId()
    try {
      const polled = await client.call('getPairing', { query: { agentId: of } })
      if (agentId() === of && !isStarting()) setPairing(polled)
    } catch {
      // The runner restarts, or the pairing was deleted. The next answer says so.
    }
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }
  onCleanup(() => {
    isOver = true
    stop()
  })
  createEffect(
    on(agentId, () => {
      stop()
      setPairing(null)
    }),
  )

  return {
    pairing,
    error,
    isStarting,
    /** With a phone number: by a code to type. */
    async start(phoneNumber?: string): Promise<void> {
      const of = agentId()
      setError(null)
      setStarting(true)
      try {
        const started = await client.call('startPairing', { body: { agentId: of, ...(phoneNumber === undefined ? {} : { phoneNumber }) } })
        // The dialog was closed, or another agent was chosen.
        if (isOver || agentId() !== of) return
        setPairing(started)
        timer ??= setInterval(() => void poll(), POLL_MS)
      } catch (thrown) {
        setError(thrown)
      } finally {
        setStarting(false)
      }
    },
  }
}
