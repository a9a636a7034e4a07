import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { orAbort } from './abortable.ts'

it('settles like the promise, or rejects with the reason of the abort', async () => {
  const { signal } = new AbortController()
  expect(await orAbort(Promise.resolve(7), signal)).toBe(7)
  await expect(orAbort(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
  const stop = new AbortController()
  const waiting = orAbort(new Promise(() => {}), stop.signal)
  stop.abort(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
  await expect(orAbort(Promise.resolve(7), stop.signal)).rejects.toThrow('stopped')
})

it('removes its listeners', async () => {
  const { signal } = new AbortController()
  for (let i = 0; i < 100; i++) await orAbort(Promise.resolve(i), signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
