import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { bounded } from './checked-connection.ts'

it('leaves no rejection unhandled when the signal has aborted before the work is awaited', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const work = Promise.withResolvers<never>()
  const stopped = AbortSignal.abort(new Error('stopped'))
  await expect(bounded(work.promise, 1000, stopped, () => new Error('too slow'))).rejects.toThrow('stopped')
  work.reject(new Error('closed'))
  await setImmediate()
  expect(unhandled).toEqual([])
})
