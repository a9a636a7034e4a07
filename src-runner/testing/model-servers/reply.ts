/** A reply for a model server, independent of a protocol. All of it is data, so it can be sent to a server in another process. */
export type ServedReply = {
  /** One delta of the stream for each piece. */
  text?: string[]
  reasoning?: string[]
  toolCalls?: ServedToolCall[]
  /** Raw, as a faulty server may send it; null sends none. */
  usage?: { input: number; output: number; cached?: number; cacheWrite?: number } | null
  /** The finish reason. `raw` is sent as it is, for unknown reasons. */
  stop?: 'stop' | 'length' | 'tools' | 'filter' | { raw: string }
  /** Milliseconds between two frames, for people who watch. Tests hold the server with a latch instead. */
  frameDelayMs?: number
  /** Writes each frame after the one before it was sent. */
  flushed?: true
  /** A stream as a real provider sends it, event by event. Replaces everything else here. */
  recorded?: readonly string[]
  fault?: ServedFault
}

export type ServedToolCall = { id: string; name: string; args?: unknown; rawArgs?: string }

export type ServedFault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; error?: ServedError; body?: string; contentType?: string }
  /** An error in the protocol's own form inside the stream, after the content. */
  | { kind: 'error_in_stream'; error: ServedError }
  /** The connection breaks after this many frames; 0 is before the head. */
  | { kind: 'reset'; afterFrames: number }
  /** The stream ends without an error after this many frames. */
  | { kind: 'end_early'; afterFrames: number }
  /** Nothing more comes after this many frames (0: not even the head), and the connection stays open. */
  | { kind: 'stall'; afterFrames: number }
  /** The last frame before the end of the reply is cut in two and the connection ends. */
  | { kind: 'half_event' }
  /** The stream ends in the middle of the first tool call's arguments. */
  | { kind: 'cut_tool_call' }
  | { kind: 'crlf' }
  /** One byte per write, so every character and line break is split. */
  | { kind: 'torn_bytes' }
  | { kind: 'bad_utf8' }
  | { kind: 'no_done' }
  | { kind: 'bad_json' }
  | { kind: 'huge_line'; bytes: number }
  | { kind: 'comments' }
  /** An event of an unknown kind. */
  | { kind: 'unknown_event' }
  | { kind: 'content_type'; contentType: string }
  | { kind: 'gzip' }
  | { kind: 'redirect'; to: string; status: number }

export type ServedError = { message: string; type?: string; code?: string }
