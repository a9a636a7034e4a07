import type { RouteAnswer, RouteInput, RouteName, Routes } from '../../contract/routes.ts'
import type { Caller } from './caller.ts'
import type { EventSink } from './stream.ts'

/**
 * What a handler may know and decide besides its input. `caller.entityId`: the only workspace whose things a list returns. Ids in
 * the input are confined to it already.
 */
export type Call = {
  caller: Caller
  /** A model of another program worded the request, from texts that nobody here knows. */
  overMcp?: true
  /** Where a reader of a stream stopped (`Last-Event-ID`), or null. */
  lastEventId: number | null
  /** Aborts when the caller has disconnected. */
  gone: AbortSignal
  /** Replaces the route's success status (health: 503 with the same body). */
  setStatus(status: number): void
}

/** Starts to send and returns how to stop. Called after the headers were sent. An error ends the stream. */
export type OpenStream = (sink: EventSink) => () => void

type Outcome<N extends RouteName> = Routes[N] extends { stream: true } ? OpenStream : RouteAnswer<N>

/** What a route does after gate, authentication and parsing. Throws AppError for every expected refusal. */
export type Handler<N extends RouteName> = (input: RouteInput<N>, call: Call) => Outcome<N> | Promise<Outcome<N>>

/** A route without a handler does not compile. */
export type Handlers = { [N in RouteName]: Handler<N> }
