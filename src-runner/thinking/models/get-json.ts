import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { Clock } from '../../kit/clock.ts'

const MAX_ANSWER_CHARS = 4_194_304

/** null for everything that is not JSON in time: whatever it is, it is not what we look for. */
export async function getJson(
  { fetch, clock, timeoutMs = 1000 }: { fetch: OutboundFetch; clock: Clock; timeoutMs?: number },
  url: string,
): Promise<unknown> {
  const over = new AbortController()
  const timer = clock.sleep(timeoutMs, over.signal).then(
    () => over.abort(new Error('too late')),
    () => {},
  )
  let chars = 0
  try {
    const answer = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: over.signal,
      onBytes: (count) => {
        chars += count
        if (chars > MAX_ANSWER_CHARS) throw new Error('too long')
      },
    })
    if (!answer.ok || !(answer.headers.get('content-type') ?? '').includes('json')) {
      await answer.body?.cancel()
      return null
    }
    return await answer.json()
  } catch {
    return null
  } finally {
    over.abort(new Error('done'))
    await timer
  }
}
