import { describe, expect, it } from 'vitest'
import { createEndings } from './endings.ts'
import { silentLog } from './log.ts'

describe('the endings of what has begun', () => {
  it('come last first, those added together side by side, and each has ended before what it stands on', async () => {
    const said: string[] = []
    const release = Promise.withResolvers<void>()
    const endings = createEndings(silentLog)
    endings.add(() => said.push('file'))
    endings.add(
      async () => (said.push('slow begins'), await release.promise, said.push('slow ends')),
      ({ graceMs }) => said.push(`quick, ${graceMs} ms`),
    )
    endings.add(() => said.push('watcher'))
    const all = endings.run({ graceMs: 5 })
    await expect.poll(() => said).toEqual(['watcher', 'slow begins', 'quick, 5 ms'])
    release.resolve()
    await all
    expect(said.slice(3)).toEqual(['slow ends', 'file'])
  })

  it('come all, also behind one that fails, which is logged', async () => {
    const said: string[] = []
    const logged: string[] = []
    const endings = createEndings({ ...silentLog, error: (_fields, message) => logged.push(message) })
    endings.add(() => said.push('file'))
    endings.add(
      () => {
        throw new Error('stuck')
      },
      () => Promise.reject(new Error('lost')),
      () => said.push('other'),
    )
    await endings.run({ graceMs: 0 })
    await endings.run({ graceMs: 0 })
    expect(said).toEqual(['other', 'file'])
    expect(logged).toEqual(['something did not end in order: stuck', 'something did not end in order: lost'])
  })
})
