import type { ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createPlaces } from './places.ts'

export const HEARTBEAT_MS = 15_000
/** Unsent bytes above which a reader counts as slow. */
export const SLOW_READER_BYTES = 64 * 1024
/** Unsent bytes above which a reader is disconnected. */
export const LOST_READER_BYTES = 1024 * 1024
/** Heartbeats in a row that a slow reader may miss before it is disconnected. */
const LOST_READER_BEATS = 4

/** One reader of server-sent events. */
export type EventSink = {
  /** Writes one frame (see `frame`). A reader that is too far behind is disconnected and can reconnect. */
  send(text: string): void
  /** While false, a source that can skip or read again waits for `onDrain`. */
  keepsUp(): boolean
  /** Calls back once, when the reader has drained. */
  onDrain(listener: () => void): void
  end(): void
}

/** Streams of one client. A window has a few, and a script one or two. */
export const MAX_STREAMS = 200

export type Streams = {
  /**
   * Takes a place for a stream of this client, before its request does anything. Returns how to give it back. Throws AppError
   * too_many_streams.
   */
  reserve(client: string): () => void
  /** Sends the headers, then opens the source. */
  open(res: ServerResponse, start: (sink: EventSink) => () => void, options: StreamOptions): void
  count(): number
  close(): void
}

/** `data` is JSON, so it contains no line break. */
export function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

export function numberedFrame(id: number, event: string, data: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** `isRepeatable`: sending the same request again starts nothing. `leave`: gives the place back. */
export type StreamOptions = {
  leave: () => void
  isRepeatable: boolean
  /** Asked at each heartbeat. The stream ends when it may not continue. */
  mayContinue?: () => Promise<boolean>
}

/** All open streams of a server: one timer for all heartbeats, and one place that ends them. */
export function createStreams(clock: Clock): Streams {
  const readers = new Set<Reader>()
  const places = createPlaces(MAX_STREAMS)
  let stopBeat: (() => void) | null = null

  function beat(): void {
    for (const reader of readers) reader.beat()
  }

  return {
    reserve(client) {
      const leave = places.take(client)
      if (leave === null) throw new AppError('too_many_streams')
      return leave
    },
    open(res, start, options) {
      const reader = openReader(res, options, () => {
        options.leave()
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
      for (const reader of Array.from(readers)) reader.end()
    },
  }
}

type Reader = { start(source: (sink: EventSink) => () => void): void; beat(): void; end(): void }

function openReader(res: ServerResponse, { isRepeatable, mayContinue }: StreamOptions, forget: () => void): Reader {
  let stopSource: (() => void) | null = null
  let closed = false
  let missedBeats = 0

  // `no-transform` and the nginx header keep proxies from buffering.
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  // `retry` makes readers reconnect, which must not happen where the request starts a turn.
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
      // Checked before the write, so that one long frame, such as a recorded step, disconnects nobody.
      if (res.writableLength > LOST_READER_BYTES) res.destroy()
      else res.write(text)
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
      void mayContinue?.().then(
        (may) => may || end(),
        () => end(),
      )
      if (sink.keepsUp()) {
        missedBeats = 0
        sink.send(': beat\n\n')
      } else if (++missedBeats >= LOST_READER_BEATS) res.destroy()
    },
    end,
  }
}
