import { describe, expect, it } from 'vitest'
import { readSse } from './sse.ts'

function bodyOf(...portions: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const portion of portions) controller.enqueue(portion)
      controller.close()
    },
  })
}

async function read(body: ReadableStream<Uint8Array>, onBytes?: () => void) {
  const events = []
  for await (const event of readSse(body, onBytes)) events.push(event)
  return events
}

describe('server-sent events', () => {
  it('are the same wherever the stream is cut, also inside a character', async () => {
    const bytes = new TextEncoder().encode(
      '\uFEFF: beat\r\n\r\nid: 1\r\nevent: one\r\ndata: Grüße 🚢\r\n\r\ndata: a\ndata: b\n\ndata: cut off\n',
    )
    const whole = await read(bodyOf(bytes))
    expect(whole.map(({ event, data, id }) => [event, data, id])).toEqual([
      ['one', 'Grüße 🚢', '1'],
      [undefined, 'a\nb', undefined],
    ])
    for (let cut = 1; cut < bytes.length; cut++) expect(await read(bodyOf(bytes.subarray(0, cut), bytes.subarray(cut)))).toEqual(whole)
  })

  it('report all bytes, also of comments', async () => {
    let heard = 0
    await read(bodyOf(...[': beat\n\n', 'data: x\n\n'].map((text) => new TextEncoder().encode(text))), () => heard++)
    expect(heard).toBe(2)
  })

  it('close the connection when the reader stops', async () => {
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
