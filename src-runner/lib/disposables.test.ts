import { describe, expect, it } from 'vitest'
import { createDisposables } from './disposables.ts'
import { silentLog } from './log.ts'

describe('disposables', () => {
  it('run in reverse order, and those added together run at the same time', async () => {
    const events: string[] = []
    const release = Promise.withResolvers<void>()
    const disposables = createDisposables(silentLog)
    disposables.add(() => events.push('file'))
    disposables.add(
      async () => (events.push('slow begins'), await release.promise, events.push('slow ends')),
      ({ graceMs }) => events.push(`quick, ${graceMs} ms`),
    )
    disposables.add(() => events.push('watcher'))
    const all = disposables.run({ graceMs: 5 })
    await expect.poll(() => events).toEqual(['watcher', 'slow begins', 'quick, 5 ms'])
    release.resolve()
    await all
    expect(events.slice(3)).toEqual(['slow ends', 'file'])
  })

  it('all run even if one fails, which is logged', async () => {
    const events: string[] = []
    const logged: string[] = []
    const disposables = createDisposables({ ...silentLog, error: (_fields, message) => logged.push(message) })
    disposables.add(() => events.push('file'))
    disposables.add(
      () => {
        throw new Error('stuck')
      },
      () => Promise.reject(new Error('lost')),
      () => events.push('other'),
    )
    await disposables.run({ graceMs: 0 })
    await disposables.run({ graceMs: 0 })
    expect(events).toEqual(['other', 'file'])
    expect(logged).toEqual(['a part did not stop in order: stuck', 'a part did not stop in order: lost'])
  })
})
