/** A line of a stream that is longer is no piece of an answer. The longest real ones repeat a whole answer at its end. */
export const MAX_EVENT_BYTES = 8_388_608
/** Objects and lists of one event. A hostile event of 200,000 tool calls would hold up everybody while it is parsed. */
export const MAX_EVENT_VALUES = 10_000

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const QUOTE = 34
const BACKSLASH = 92
const LIST = 91
const OBJECT = 123

/**
 * Passes a stream of JSON events on, and breaks it off before an event that would take too long to parse reaches the parser.
 * Counts the objects and lists of each event outside of its texts. An event ends with an empty line, or with each line
 * in a stream that is one JSON text a line.
 */
export function boundEvents(response: Response, kind: 'events' | 'lines', tooLarge: () => Error): Response {
  if (response.body === null) return response
  const meter = createMeter(kind)
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        if (meter.exceeds(piece)) controller.error(tooLarge())
        else controller.enqueue(piece)
      },
    }),
  )
  return new Response(bounded, { status: response.status, headers: response.headers })
}

function createMeter(kind: 'events' | 'lines'): { exceeds(piece: Uint8Array): boolean } {
  let bytes = 0
  let values = 0
  let isInText = false
  let isEscaped = false
  let isLineEmpty = true
  return {
    exceeds(piece) {
      for (const byte of piece) {
        bytes++
        if (byte === LINE_FEED) {
          if (isLineEmpty || kind === 'lines') {
            bytes = 0
            values = 0
          }
          // JSON has no line break inside a text, so a quote in some other line hides nothing.
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
    },
  }
}
