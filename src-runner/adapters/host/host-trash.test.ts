import { existsSync, renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { FromRunner, ToRunner } from '../../contract/port.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findFile } from '../../agent/files/file-state.ts'
import { openSpot } from '../../agent/files/file-spot.ts'
import { nameFolders, parsePath } from '../../agent/files/folder-paths.ts'
import { createHostTrash } from './host-trash.ts'

type Ask = Extract<FromRunner, { type: 'trash.ask' }>
type Answer = Extract<ToRunner, { type: 'trash.answer' }>

/** A file, and a host that only responds when the test says so. */
async function rig() {
  const base = await scratchFolder()
  await base.write('Docs/a.md', 'mine')
  const file = base.at('Docs/a.md')
  const clock = createHandClock()
  const asked: Ask[] = []
  const trash = createHostTrash({ send: (message) => asked.push(message), clock })
  return {
    file,
    clock,
    asked,
    answer: (given: Partial<Answer> = {}) =>
      trash.answer({ type: 'trash.answer', requestId: asked.at(-1)!.requestId, ok: true, message: null, ...given }),
    moveAway: () => renameSync(file, base.at('away.md')),
    /** Returns the outcome in words. */
    async take(meanwhile: () => Promise<void> = async () => {}): Promise<string> {
      const spot = await openSpot(parsePath(`${base.at('Docs')}/a.md`, nameFolders([base.at('Docs')]))!)
      try {
        const { stats } = (await findFile(spot))!
        await meanwhile()
        return `taken: ${await trash.take(spot, stats)}`
      } catch (thrown) {
        return (thrown as Error).message
      } finally {
        await spot.close()
      }
    },
  }
}

describe('the host trash', () => {
  it('moves the file by its real path and checks that it is gone', async () => {
    const { file, asked, take, moveAway, answer } = await rig()
    const taken = take()
    await expect.poll(() => asked).toEqual([{ type: 'trash.ask', requestId: 1, path: file }])
    moveAway()
    answer()
    expect(await taken).toBe('taken: true')
  })

  it('reports a refusal and does not delete the file', async () => {
    const { file, asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    answer({ ok: false, message: 'The volume has no trash.' })
    expect(await refused).toBe("'Docs/a.md' was not moved to the trash: The volume has no trash.")
    expect(existsSync(file)).toBe(true)
  })

  it('fails if the file is still there', async () => {
    const { asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    answer()
    expect(await refused).toMatch(/is in the trash, but it is still there\.$/)
  })

  it('times out and ignores a late answer', async () => {
    const { clock, asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    clock.advance(60_000)
    expect(await refused).toMatch(/Look whether it is still there\.$/)
    answer()
    expect(clock.sleepers()).toBe(0)
  })

  it('refuses a file that has changed since it was checked', async () => {
    const { file, asked, take } = await rig()
    expect(await take(() => writeFile(file, 'theirs, and longer'))).toMatch(/was changed by something else/)
    expect(asked).toEqual([])
  })
})
