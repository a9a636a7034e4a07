/** Parsers of event streams search the rest of a piece for each of its lines: 64 KB of line feeds and one carriage return take 40 ms. */
const MAX_PIECE_BYTES = 4_096

/** The same bytes, for a parser of events. */
export function* smallPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) yield bytes.subarray(at, at + MAX_PIECE_BYTES)
}
