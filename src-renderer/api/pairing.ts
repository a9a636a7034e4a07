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

  async function poll(): Promise<void> {
    if (isStarting()) return
    try {
      setPairing(await client.call('getPairing', { query: { agentId: agentId() } }))
    } catch {
      // The runner restarts, or the pairing was deleted. The next answer says so.
    }
  }

  const stop = () => clearInterval(timer)
  onCleanup(stop)
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
      stop()
      setError(null)
      setStarting(true)
      try {
        setPairing(
          await client.call('startPairing', { body: { agentId: agentId(), ...(phoneNumber === undefined ? {} : { phoneNumber }) } }),
        )
        timer = setInterval(() => void poll(), POLL_MS)
      } catch (thrown) {
        setError(thrown)
      } finally {
        setStarting(false)
      }
    },
  }
}
