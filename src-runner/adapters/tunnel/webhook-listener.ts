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
}

/** Keeps the webhook-only listener on the port that the environment, the setting or a tunnel wants. */
export function createListenerKeeper({ log, open, fixedPort, portSetting }: ListenerKeeperDeps) {
  let listener: WebhookListener | null = null
  let lastPort: number | null = null
  let problem: Message | null = null

  async function close(): Promise<void> {
    const before = listener
    listener = null
    await before?.close()
  }

  /** null closes it. Throws the system's error and then changes nothing. */
  async function arrange(wanted: number | null): Promise<void> {
    if (wanted === null) await close()
    else if (listener === null || (wanted !== 0 && listener.port !== wanted)) {
      const before = listener
      listener = await open(wanted)
      lastPort = listener.port
      await before?.close()
    }
    problem = null
    const port = listener?.port ?? null
    log.info({ port }, port === null ? "webhooks come in on the runner's port" : 'webhooks have their own port')
  }

  return {
    port: () => listener?.port ?? null,
    /** Why the listener could not be opened at the start; null: it could. */
    problem: () => problem,
    chosenPort: () => fixedPort ?? portSetting(),
    /** A tunnel without a chosen port finds the port of the last one again; 0: there was none. */
    wantedPort: (forTunnel: boolean, setting = portSetting()) => fixedPort ?? setting ?? (forTunnel ? (lastPort ?? 0) : null),
    arrange,
    /** The person's own proxy needs the same port every time, so the first one is kept like a chosen one. */
    async openFirst(): Promise<number> {
      if (listener === null) await arrange(FIRST_INGRESS_PORT).catch(() => arrange(0))
      return listener!.port
    },
    failed(port: number, error: unknown): void {
      problem = portProblem(port, error)
    },
    close,
  }
}

/** Why a port could not be opened, from the system's error. */
export function portProblem(given: number, error: unknown): Message {
  const port = String(given)
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
