import { ToRunner, type FromRunner } from '../../contract/port.ts'

/** Messages to and from the process that started us: the desktop (utility process) or headless (forked child). */
export type HostChannel = {
  /** Resolves when the message was sent. */
  send(message: FromRunner): Promise<void>
  /** Messages that do not fit the contract are dropped; `bad` gets the wrong fields, never their content. */
  listen(on: { message(message: ToRunner): void; bad(paths: string[]): void; closed(): void }): void
}

/** The used part of Electron's utility process port. The runner has no Electron types. */
type ParentPort = { postMessage(message: unknown): void; on(event: 'message', listener: (event: { data: unknown }) => void): void }

const PARENT_CHECK_MS = 1000

/** null: no host process; the configuration comes from the environment. */
export function findHostChannel(): HostChannel | null {
  const port = (process as { parentPort?: ParentPort }).parentPort
  if (port !== undefined && port !== null) return overParentPort(port)
  return process.send === undefined ? null : overIpc()
}

function overParentPort(port: ParentPort): HostChannel {
  return {
    // A process that exits in the same turn may lose a posted message.
    send: (message) => new Promise((resolve) => (port.postMessage(message), setTimeout(resolve, 50))),
    listen(on) {
      port.on('message', ({ data }) => receive(data, on))
      watchParent(on.closed)
    },
  }
}

function overIpc(): HostChannel {
  return {
    send: (message) => new Promise((resolve) => (process.connected ? process.send!(message, () => resolve()) : resolve())),
    listen(on) {
      process.on('message', (data) => receive(data, on))
      process.on('disconnect', on.closed)
      watchParent(on.closed)
    },
  }
}

function receive(data: unknown, on: { message(message: ToRunner): void; bad(paths: string[]): void }): void {
  const parsed = ToRunner.safeParse(data)
  if (parsed.success) on.message(parsed.data)
  else on.bad(parsed.error.issues.map((issue) => issue.path.join('.')))
}

/** When the host is killed, its child gets another parent. */
function watchParent(closed: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    closed()
  }, PARENT_CHECK_MS)
  timer.unref()
}
