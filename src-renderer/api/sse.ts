/** One dispatched server-sent event. `id` is the last id seen so far, as a reader needs it to go on. */
export type SseEvent = { event: string; data: string; id: string | null }

/**
 * The parsing rules of server-sent events (WHATWG HTML, section 9.2.6), fed with text in any portions: a line may end
 * with CR, LF or both, and a portion may end anywhere, also between the CR and the LF.
 */
export function createSseParser(): (portion: string) => SseEvent[] {
  let rest = ''
  let isFirst = true
  let afterCr = false
  let event = ''
  let data: string[] = []
  let id: string | null = null

  const takeLine = (line: string, out: SseEvent[]) => {
    if (line === '') {
      if (data.length > 0) out.push({ event: event || 'message', data: data.join('\n'), id })
      event = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
  }

  return (portion) => {
    const out: SseEvent[] = []
    let text = portion
    if (isFirst && text !== '') {
      if (text.startsWith('\uFEFF')) text = text.slice(1)
      isFirst = false
    }
    if (afterCr && text !== '') {
      if (text.startsWith('\n')) text = text.slice(1)
      afterCr = false
    }
    let start = 0
    for (let i = 0; i < text.length; i++) {
      const char = text[i]
      if (char !== '\n' && char !== '\r') continue
      takeLine(rest + text.slice(start, i), out)
      rest = ''
      if (char === '\r') {
        if (i + 1 === text.length) afterCr = true
        else if (text[i + 1] === '\n') i++
      }
      start = i + 1
    }
    rest += text.slice(start)
    return out
  }
}

/** The events of a response body. Ends with it; `onBytes` is called whenever anything arrived, comments included. */
export async function* readSse(body: ReadableStream<Uint8Array>, onBytes?: () => void): AsyncGenerator<SseEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parse = createSseParser()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes?.()
      yield* parse(decoder.decode(value, { stream: true }))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
