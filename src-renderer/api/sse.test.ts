import { describe, expect, it } from 'vitest'
import { createSseParser, readSse, type SseEvent } from './sse.ts'

function parse(...portions: string[]): SseEvent[] {
  const take = createSseParser()
  return portions.flatMap((portion) => take(portion))
}

describe('createSseParser', () => {
  it('reads event, id and data, and joins data lines', () => {
    expect(parse('id: 7\nevent: job.created\ndata: a\ndata: b\n\n')).toEqual([{ event: 'job.created', data: 'a\nb', id: '7' }])
  })

  it('gives the same events wherever the stream is cut', () => {
    const text = '\uFEFF: beat\r\n\r\nid: 1\r\nevent: one\r\ndata: x\r\n\r\ndata: y\n\nid: 2\rdata: z\r\rdata: "\u{1F6A2}"\n\n'
    const whole = parse(text)
    expect(whole.map((event) => [event.event, event.data, event.id])).toEqual([
      ['one', 'x', '1'],
      ['message', 'y', '1'],
      ['message', 'z', '2'],
      ['message', '"\u{1F6A2}"', '2'],
    ])
    for (let cut = 1; cut < text.length; cut++) expect(parse(text.slice(0, cut), text.slice(cut))).toEqual(whole)
    expect(parse(...text)).toEqual(whole)
  })

  it('drops comments, unknown fields, events without data, and ids with a NUL', () => {
    expect(parse(': hello\n\nretry: 1000\n\nevent: empty\n\nid: a\0b\nnonsense\ndata:no space\n\n')).toEqual([
      { event: 'message', data: 'no space', id: null },
    ])
  })

  it('does not give an event that was not finished', () => {
    expect(parse('data: cut off\n')).toEqual([])
  })
})

describe('readSse', () => {
  it('puts characters together that arrive in pieces', async () => {
    const bytes = new TextEncoder().encode('data: Grüße 🚢\n\n')
    let heard = 0
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
        controller.close()
      },
    })
    const events: SseEvent[] = []
    for await (const event of readSse(body, () => heard++)) events.push(event)
    expect(events).toEqual([{ event: 'message', data: 'Grüße 🚢', id: null }])
    expect(heard).toBe(bytes.length)
  })

  it('lets the connection go when its reader stops', async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
      cancel: () => {
        cancelled = true
      },
    })
    for await (const _ of readSse(body)) break
    expect(cancelled).toBe(true)
  })
})
