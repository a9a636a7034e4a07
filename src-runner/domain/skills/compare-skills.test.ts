import { expect, it } from 'vitest'
import { cpuMsDuring } from '../../testing/cpu-time.ts'
import { compareSkills } from './compare-skills.ts'
import { packSkill } from './skill-package.ts'

const pack = (files: Record<string, string>) => packSkill(Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) })))

it('shows what is invisible in a change', async () => {
  const { changes } = await compareSkills(pack({ 'a.md': 'Sort.\n' }), pack({ 'a.md': 'Sort é\u200b.\n' }))
  expect(changes).toEqual([{ path: 'a.md', change: 'modified', diff: expect.stringContaining('\n-Sort.\n+Sort é\\u{200b}.\n') as string }])
})

it('names a huge text with what is invisible in it, without holding up all jobs', async () => {
  const after = pack({ 'a.md': `${'Sort shells. '.repeat(1_000_000)}\u200b`, 'b.md': `${'Sort shells. '.repeat(70_000)}\u200b` })
  const cpuMs = await cpuMsDuring(async () => {
    const { changes } = await compareSkills(null, after)
    expect(changes).toMatchObject([
      { path: 'a.md', diff: '' },
      { path: 'b.md', diff: expect.stringContaining('Sort shells.') as string },
    ])
  })
  expect(cpuMs).toBeLessThan(2_000)
})
