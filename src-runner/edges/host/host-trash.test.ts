import { existsSync, renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { FromRunner, ToRunner } from '../../contract/port.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findFile } from '../../thinking/folder-access/file-state.ts'
import { openSpot } from '../../thinking/folder-access/file-spot.ts'
import { nameFolders, parsePath } from '../../thinking/folder-access/folder-paths.ts'
import { createHostTrash } from './host-trash.ts'

type Ask = Extract<FromRunner, { type: 'trash.ask' }>
type Answer = Extract<ToRunner, { type: 'trash.answer' }>

/** A file and a host at the other end of the port, which says nothing by itself. */
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
    /** Answers what it said in the end, in words. */
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

describe('the trash of the host', () => {
  it('is asked for the file by its real path, and believed once the file is gone', async () => {
    const { file, asked, take, moveAway, answer } = await rig()
    const taken = take()
    await expect.poll(() => asked).toEqual([{ type: 'trash.ask', requestId: 1, path: file }])
    moveAway()
    answer()
    expect(await taken).toBe('taken: true')
  })

  it('says why it refused, and the file is not deleted in another way', async () => {
    const { file, asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    answer({ ok: false, message: 'The volume has no trash.' })
    expect(await refused).toBe("'Docs/a.md' was not moved to the trash: The volume has no trash.")
    expect(existsSync(file)).toBe(true)
  })

  it('is not believed while the file is still there', async () => {
    const { asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    answer()
    expect(await refused).toMatch(/is in the trash, but it is still there\.$/)
  })

  it('is not waited for without end, and a late answer does nothing', async () => {
    const { clock, asked, take, answer } = await rig()
    const refused = take()
    await expect.poll(() => asked).toHaveLength(1)
    clock.advance(60_000)
    expect(await refused).toMatch(/Look whether it is still there\.$/)
    answer()
    expect(clock.sleepers()).toBe(0)
  })

  it('is never asked for a file that somebody changed since it was looked at', async () => {
    const { file, asked, take } = await rig()
    expect(await take(() => writeFile(file, 'theirs, and longer'))).toMatch(/was changed by something else/)
    expect(asked).toEqual([])
  })
})
