import type { StreamedEvent } from './runner-client.ts'

/** Resolves when a job has ended or waits for somebody. What a job asks is committed before it waits. */
export async function nextPause(events: AsyncIterator<StreamedEvent>): Promise<void> {
  for (;;) {
    const { value, done } = await events.next()
    if (done === true) throw new Error('the stream of events ended')
    if (/^job\.(waiting|finished)$/.test(value.event)) return
  }
}
