import { isFromNetwork, type Ends } from './encryption.ts'

/** Of a server and a socket of Node, what is needed. */
type Connection = Ends & { destroy(): unknown; once(event: 'close', then: () => void): unknown }
type Listening = { on(event: 'connection', then: (socket: Connection) => void): unknown }

/** Of one server, which leaves file handles for everything else under a limit of 1,024. */
export const MAX_CONNECTIONS = 768
/** A browser opens six, and a proxy in front one for each request in progress. */
export const MAX_FROM_ADDRESS = 128
/** The rest is for this machine, so that strangers lock out neither the window nor the dashboard. */
const MAX_FROM_NETWORK = 512

type Limits = { fromAddress: number; fromNetwork: number }

/** Closes connections from the network that are more than one address, or all together, may hold. */
export function limitConnectionsFromNetwork(
  server: Listening,
  { fromAddress, fromNetwork }: Limits = { fromAddress: MAX_FROM_ADDRESS, fromNetwork: MAX_FROM_NETWORK },
): void {
  const open = new Map<string, number>()
  let total = 0
  server.on('connection', (socket) => {
    if (!isFromNetwork(socket)) return
    const address = socket.remoteAddress ?? ''
    const count = open.get(address) ?? 0
    if (count >= fromAddress || total >= fromNetwork) return void socket.destroy()
    total++
    open.set(address, count + 1)
    socket.once('close', () => {
      total--
      const left = open.get(address)! - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
