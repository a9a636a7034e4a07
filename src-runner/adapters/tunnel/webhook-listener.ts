import type { Message } from '../../contract/messages.ts'
import { FIRST_INGRESS_PORT } from '../../contract/public-address.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'

/** The webhook-only listener while it is open. */
export type WebhookListener = { port: number; close(): Promise<void> }

export type ListenerKeeperDeps = {
  log: Log
  /** 0: any port. Rejects with the system's error. */
  open(port: number): Promise<WebhookListener>
  /** From the environment, which wins over the setting. */
  fixedPort: number | null
  portSetting(): number | null
  /** A tunnel needs the listener, even if no port was chosen. */
  wantsTunnel(): boolean
}

/** Keeps the webhook-only listener on the port that the environment, the setting or a tunnel wants. */
export function createListenerKeeper({ log, open, fixedPort, portSetting, wantsTunnel }: ListenerKeeperDeps) {
  let listener: WebhookListener | null = null
  let lastPort: number | null = null
  let problem: Message | null = null

  /** 0: any port, null: none. Returns why the port could not be opened; then nothing has changed. */
  async function move(wanted: number | null): Promise<Message | null> {
    const before = listener
    try {
      if (wanted === null) listener = null
      else if (before === null || (wanted !== 0 && wanted !== before.port)) {
        listener = await open(wanted)
        lastPort = listener.port
      }
      if (before !== listener) await before?.close()
    } catch (error) {
      return describePortError(wanted ?? 0, error)
    }
    problem = null
    if (before !== listener) log.info({ port: listener?.port }, 'moved the webhook-only listener')
    return null
  }

  return {
    port: () => listener?.port ?? null,
    chosenPort: () => fixedPort ?? portSetting(),
    /** null: no listener is wanted. */
    wantedPort: () => fixedPort ?? portSetting() ?? (wantsTunnel() ? (lastPort ?? 0) : null),
    /** Opens, moves or closes the listener as wanted. Returns why it could not; then nothing has changed. */
    async arrange(setting = portSetting()): Promise<Message | null> {
      const chosen = fixedPort ?? setting
      if (chosen !== null || !wantsTunnel()) return move(chosen)
      // The port of the last tunnel is only a preference.
      return (await move(lastPort ?? 0)) === null ? null : move(0)
    },
    /** The person's own proxy needs the same port every time, so the first one is kept like a chosen one. */
    openFirst: async () => (listener !== null || (await move(FIRST_INGRESS_PORT)) === null ? null : move(0)),
    /** Why the listener could not be opened at the start; null: it could. */
    problem: () => problem,
    setProblem: (found: Message) => void (problem = found),
    close: () => move(null),
  }
}

function describePortError(wanted: number, error: unknown): Message {
  const port = String(wanted)
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return createMessage('port_taken', { port })
    case 'EACCES':
    case 'EPERM':
      return createMessage('port_not_allowed', { port })
    default:
      return createMessage('port_failed', { port, words: messageOf(error) })
  }
}
