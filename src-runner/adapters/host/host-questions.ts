import type { Clock } from '../../lib/clock.ts'

/** Questions to the host over the port, matched with their answers by number. A late answer is dropped. */
export function createHostQuestions<Answer extends { requestId: number }>({ clock, withinMs }: { clock: Clock; withinMs: number }) {
  const waiting = new Map<number, (answer: Answer) => void>()
  let lastId = 0

  return {
    /** Rejects with `late()` if the host does not answer in time. */
    async ask(send: (requestId: number) => void, late: () => Error): Promise<Answer> {
      const requestId = ++lastId
      const over = new AbortController()
      const answered = new Promise<Answer>((resolve) => waiting.set(requestId, resolve))
      const limit = clock.sleep(withinMs, over.signal).then(() => {
        throw late()
      })
      send(requestId)
      try {
        return await Promise.race([answered, limit])
      } finally {
        waiting.delete(requestId)
        limit.catch(() => {})
        over.abort(new Error('answered'))
      }
    },
    answer: (message: Answer) => waiting.get(message.requestId)?.(message),
  }
}
