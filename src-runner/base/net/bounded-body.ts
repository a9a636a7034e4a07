import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/**
 * At most `maxBytes` of an answer, counted as they come out of the decompression, so that a bomb is put down after its
 * first `maxBytes`. What comes over the wire is bounded as well: compressed bytes may stand for nothing at all.
 */
export async function readBounded(
  answer: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; isCut: boolean }> {
  const source = decompressed(answer)
  let wireBytes = 0
  let isCut = false
  if (source !== answer) {
    answer.on('data', (chunk: Buffer) => {
      wireBytes += chunk.length
      if (wireBytes > maxBytes) source.destroy(new Error('the answer is larger than it may be'))
    })
  }
  const stop = () => void source.destroy(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      const room = maxBytes - length
      isCut = chunk.length > room
      chunks.push(isCut ? chunk.subarray(0, room) : chunk)
      length += chunks.at(-1)!.length
      if (isCut) break
    }
  } finally {
    signal.removeEventListener('abort', stop)
    answer.destroy()
  }
  return { body: Buffer.concat(chunks, length), isCut }
}

/** What it cannot decompress stays as it came, and is then no text. */
function decompressed(answer: IncomingMessage): Readable {
  // `pipeline` carries the end of either stream over to the other; its own report is what the reader sees anyway.
  const through = (decoder: NodeJS.ReadWriteStream): Readable => pipeline(answer, decoder, () => {}) as unknown as Readable
  switch (answer.headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return through(createGunzip())
    case 'deflate':
      return through(createInflate())
    case 'br':
      return through(createBrotliDecompress())
    default:
      return answer
  }
}
