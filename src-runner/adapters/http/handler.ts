import type { RouteAnswer, RouteInput, RouteName, Routes } from '../../contract/routes.ts'
import type { EventSink } from './stream.ts'

/** What a handler may know and decide besides its input. */
export type Call = {
  /** Where a reader of a stream stopped (`Last-Event-ID`), or null. */
  lastEventId: number | null
  /** Aborts when the caller has gone away. */
  gone: AbortSignal
  /** Answers with another status than the table's success (health: 503 with the same shape). */
  setStatus(status: number): void
}

/** Starts to send, and answers how to stop. Called after the headers are out; what it throws ends the stream. */
export type OpenStream = (sink: EventSink) => () => void

type Outcome<N extends RouteName> = Routes[N] extends { stream: true } ? OpenStream : RouteAnswer<N>

/** A route's whole behaviour behind gate, authentication and parsing. It throws AppError for every expected refusal. */
export type Handler<N extends RouteName> = (input: RouteInput<N>, call: Call) => Outcome<N> | Promise<Outcome<N>>

/** Total over the table: a route without a handler does not compile. */
export type Handlers = { [N in RouteName]: Handler<N> }
