import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** Whether a request with these headers has a body: RFC 9112, section 6. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Whether the body ends without a byte. What it reads is lost. */
export function isEmptyBody(req: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    req
      .once('data', () => resolve(false))
      .once('end', () => resolve(true))
      .once('close', () => resolve(false))
  })
}

const DRAIN_LIMITS = { bytes: 16_000_000, idleMs: 1_000, totalMs: 10_000 }

/**
 * Reads the rest of a body and discards it. Closing a connection while data arrives resets it, and a sender that writes
 * everything before it reads loses the response: nginx then reports 502. `isWhole`: the body has ended.
 */
function drain(req: IncomingMessage, done: (isWhole: boolean) => void): void {
  if (req.complete || req.destroyed) return done(true)
  let left = DRAIN_LIMITS.bytes
  const idle = setTimeout(onIdle, DRAIN_LIMITS.idleMs)
  const total = setTimeout(() => finish(false), DRAIN_LIMITS.totalMs)
  const onEnd = () => finish(true)
  // After the event loop has stood still, timers are due before what has arrived meanwhile is read: it is read first.
  function onIdle(): void {
    const before = left
    setImmediate(() => (left === before ? finish(false) : idle.refresh()))
  }
  function onData(chunk: Buffer): void {
    left -= chunk.length
    if (left < 0) finish(false)
    else idle.refresh()
  }
  function finish(isWhole: boolean): void {
    clearTimeout(idle)
    clearTimeout(total)
    req.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd)
    done(isWhole)
  }
  req.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd)
  req.resume()
}

/** Responds at once and discards the rest of the request body, within limits. `headers` must hold the content length. */
export function respondUnread(res: ServerResponse, status: number, headers: OutgoingHttpHeaders | string[], body: string): void {
  const { req } = res
  const { socket } = req
  res.writeHead(status, headers)
  if (req.complete || !hasBody(req.headers)) return void res.end(body)
  answered.add(socket)
  res.write(body)
  drain(req, (isWhole) => {
    answered.delete(socket)
    res.end()
    if (!isWhole) socket.destroySoon()
  })
}

const answered = new WeakSet<object>()

/** Whether the request that this connection still reads was already responded to. */
export function isAnswered(socket: object): boolean {
  return answered.has(socket)
}
