/** Keeps the beginning and the end of an output. */
export type CapturedOutput = {
  add(chunk: Buffer): void
  bytes(): number
  text(): string
}

export function createCapturedOutput(keepBytes: number): CapturedOutput {
  const headRoom = Math.ceil(keepBytes / 2)
  const tailRoom = keepBytes - headRoom
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let total = 0

  /** Joined only now and then, so that many small pieces cost no more than a few large ones. */
  const trim = () => {
    const joined = Buffer.concat(tail)
    tail = [joined.subarray(Math.max(0, joined.length - tailRoom))]
    tailBytes = tail[0]!.length
  }

  return {
    add(chunk) {
      total += chunk.length
      const toHead = chunk.subarray(0, headRoom - headBytes)
      if (toHead.length > 0) head.push(Buffer.from(toHead))
      headBytes += toHead.length
      const rest = chunk.subarray(toHead.length)
      if (rest.length === 0) return
      tail.push(Buffer.from(rest))
      tailBytes += rest.length
      if (tailBytes > 2 * tailRoom + 65_536) trim()
    },
    bytes: () => total,
    text() {
      trim()
      const cut = total - headBytes - tailBytes
      if (cut === 0) return new TextDecoder().decode(Buffer.concat([...head, ...tail]))
      const start = new TextDecoder().decode(Buffer.concat(head), { stream: true })
      const end = new TextDecoder().decode(withoutHalfCharacter(tail[0]!))
      return `${start}\n[… ${cut} bytes left out here …]\n${end}`
    },
  }
}

/** In UTF-8 at most three bytes of the form 10xxxxxx continue a character. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  let at = 0
  while (at < 3 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at++
  return bytes.subarray(at)
}
