import type { ServerResponse } from 'node:http'
import type { Clock } from '../../kit/clock.ts'

/** Often enough for every proxy and every half-open connection, seldom enough to cost nothing. */
export const HEARTBEAT_MS = 15_000
/** Unsent bytes above which a reader counts as slow. */
export const SLOW_READER_BYTES = 64 * 1024
/** Unsent bytes above which a reader is let go. */
export const LOST_READER_BYTES = 1024 * 1024
/** Heartbeats that a reader may leave unread before it is let go. */
const LOST_READER_BEATS = 4

/** One reader of server-sent events. Everything written goes out as it is; nothing waits in memory without bound. */
export type EventSink = {
  /** Writes one finished frame (see `frame`). A reader that is too far behind is let go; it can come back and go on. */
  send(text: string): void
  /** Whether the reader keeps up. A source that can skip or re-read waits for `onDrain` while this is false. */
  keepsUp(): boolean
  /** Calls back once, when the reader has caught up. */
  onDrain(listener: () => void): void
  /** The source has no more to say. */
  end(): void
}

export type Streams = {
  /** Sends the headers, then opens the source. */
  open(res: ServerResponse, start: (sink: EventSink) => () => void, options: StreamOptions): void
  /** How many readers there are now. */
  count(): number
  /** Ends all of them. */
  close(): void
}

/** An SSE frame. `data` is JSON text, so it holds no line break of its own. */
export function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

export function numberedFrame(id: number, event: string, data: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** `isRepeatable`: the same request may be sent again when the stream ends, and starts nothing. */
export type StreamOptions = { isRepeatable: boolean }

/** All open streams of a server: one timer for all heartbeats, and one place that ends them. */
export function createStreams(clock: Clock): Streams {
  const readers = new Set<Reader>()
  let stopBeat: (() => void) | null = null

  function beat(): void {
    for (const reader of readers) reader.beat()
  }

  return {
    open(res, start, options) {
      const reader = openReader(res, options, () => {
        readers.delete(reader)
        if (readers.size > 0) return
        stopBeat?.()
        stopBeat = null
      })
      readers.add(reader)
      stopBeat ??= clock.every(HEARTBEAT_MS, beat)
      reader.start(start)
    },
    count: () => readers.size,
    close() {
      for (const reader of [...readers]) reader.end()
    },
  }
}

type Reader = { start(source: (sink: EventSink) => () => void): void; beat(): void; end(): void }

function openReader(res: ServerResponse, { isRepeatable }: StreamOptions, forget: () => void): Reader {
  let stopSource: (() => void) | null = null
  let closed = false
  let missedBeats = 0

  // `no-transform` and the nginx header keep proxies from holding tokens back.
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  // Tells a reader to come back soon. Without it a reader that begins a turn with its request would begin another.
  res.write(isRepeatable ? 'retry: 1000\n\n' : ': open\n\n')
  res.on('close', cleanUp)
  res.on('error', cleanUp)

  function cleanUp(): void {
    if (closed) return
    closed = true
    forget()
    stopSource?.()
  }

  function end(): void {
    if (closed) return
    cleanUp()
    res.end()
  }

  const sink: EventSink = {
    send(text) {
      if (closed) return
      if (!res.write(text) && res.writableLength > LOST_READER_BYTES) res.destroy()
    },
    keepsUp: () => res.writableLength <= SLOW_READER_BYTES,
    onDrain: (listener) => void res.once('drain', () => closed || listener()),
    end,
  }

  return {
    start(source) {
      const stop = source(sink)
      if (closed) stop()
      else stopSource = stop
    },
    beat() {
      if (sink.keepsUp()) {
        missedBeats = 0
        sink.send(': beat\n\n')
      } else if (++missedBeats >= LOST_READER_BEATS) res.destroy()
    },
    end,
  }
}
