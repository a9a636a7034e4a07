import { ToRunner, type FromRunner } from '../../contract/port.ts'

/** The way to the process that started us: the desktop (utility process) or headless (forked child). */
export type HostChannel = {
  /** Resolves when the message is on its way. */
  send(message: FromRunner): Promise<void>
  /** Messages that fit the contract. The others are told to `onBad`, by place and never by content, and dropped. */
  listen(on: { message(message: ToRunner): void; bad(paths: string[]): void; closed(): void }): void
}

/** Electron's port of a utility process, as far as it is used here; the runner has no Electron types. */
type ParentPort = { postMessage(message: unknown): void; on(event: 'message', listener: (event: { data: unknown }) => void): void }

const PARENT_CHECK_MS = 1000

/** null: nobody started us with a channel, so the environment says what to do. */
export function findHostChannel(): HostChannel | null {
  const port = (process as { parentPort?: ParentPort }).parentPort
  if (port !== undefined && port !== null) return overParentPort(port)
  return process.send === undefined ? null : overIpc()
}

function overParentPort(port: ParentPort): HostChannel {
  return {
    // A posted message is handed over at once, but a process that ends in the same turn may take it along.
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

/** A host that was killed says nothing. Its child gets another parent, which is how one without a closing channel knows. */
function watchParent(closed: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    closed()
  }, PARENT_CHECK_MS)
  timer.unref()
}
