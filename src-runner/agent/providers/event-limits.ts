import { smallPieces } from '../../platform/net/small-pieces.ts'

/** The longest real events repeat the whole reply at its end. */
export const MAX_EVENT_BYTES = 8_388_608
/** Objects and lists in one event. Parsing an event of 200,000 tool calls would block the event loop. */
export const MAX_EVENT_VALUES = 10_000

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const QUOTE = 34
const BACKSLASH = 92
const LIST = 91
const OBJECT = 123

/**
 * Breaks off a stream of JSON events before an event that would take too long to parse reaches the library. An event ends
 * with an empty line, or with each line if there is one JSON text a line.
 */
export function boundEvents(response: Response, kind: 'events' | 'lines', tooLarge: () => Error): Response {
  if (response.body === null) return response
  const isTooLarge = createMeter(kind)
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        if (isTooLarge(piece)) controller.error(tooLarge())
        else for (const small of smallPieces(piece)) controller.enqueue(small)
      },
    }),
  )
  return new Response(bounded, { status: response.status, headers: response.headers })
}

/** Returns whether an event has become too large with this piece. */
function createMeter(kind: 'events' | 'lines'): (piece: Uint8Array) => boolean {
  let bytes = 0
  let values = 0
  let isInText = false
  let isEscaped = false
  let isLineEmpty = true
  return (piece) => {
    for (const byte of piece) {
      bytes++
      if (byte === LINE_FEED) {
        if (isLineEmpty || kind === 'lines') {
          bytes = 0
          values = 0
        }
        // JSON strings contain no line breaks.
        isInText = false
        isEscaped = false
        isLineEmpty = true
        continue
      }
      if (byte === CARRIAGE_RETURN) continue
      isLineEmpty = false
      if (isEscaped) isEscaped = false
      else if (isInText && byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) isInText = !isInText
      else if (!isInText && (byte === OBJECT || byte === LIST)) values++
      if (values > MAX_EVENT_VALUES || bytes > MAX_EVENT_BYTES) return true
    }
    return false
  }
}
