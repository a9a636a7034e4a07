import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { chmod, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listEventsAfter } from '../platform/events/event-log.sql.ts'
import { WrittenFile } from '../contract/files.ts'
import { listStartedChanges } from '../domain/files/file-changes.ts'
import { openFileRig, type FileRig } from '../testing/file-rig.ts'
import { deleteFile } from '../agent/tools/delete-file/delete-file.ts'
import { editFile } from '../agent/tools/edit-file/edit-file.ts'
import { moveFile } from '../agent/tools/move-file/move-file.ts'
import { writeFile } from '../agent/tools/write-file/write-file.ts'

const list = async (rig: FileRig) =>
  (await rig.files.list(rig.job.id)).map((file) => {
    expect(WrittenFile.parse(file)).toEqual(file)
    const { path, change, movedFrom, sizeBefore, sizeAfter, undoable, undone } = file
    return `${change} ${path}${movedFrom === null ? '' : ` from ${movedFrom}`} ${sizeBefore}→${sizeAfter}${undoable ? ' undoable' : ''}${undone ? ' undone' : ''}`
  })
const diff = (rig: FileRig, path: string, callId?: string) => rig.files.diff(rig.job.id, path, callId)
const undo = (rig: FileRig, path: string, force = false) => rig.files.undo(rig.job.id, path, force)

describe('the files of a job', () => {
  it('are listed once each, from the state before the job to the state after it', async () => {
    const rig = openFileRig()
    await rig.write('old.md', 'one\ntwo\n')
    await rig.write('gone.md', 'bye')
    await rig.write('here.md', 'moved')
    await rig.call(writeFile, { path: 'Docs/new.md', content: 'hello\n' })
    await rig.call(editFile, { path: 'Docs/old.md', oldText: 'two', newText: 'three' })
    await rig.call(editFile, { path: 'Docs/old.md', oldText: 'one', newText: 'zero' })
    await rig.call(deleteFile, { path: 'Docs/gone.md' })
    await rig.call(moveFile, { from: 'Docs/here.md', to: 'Docs/there.md' })
    await rig.call(writeFile, { path: 'Docs/temp.md', content: 'x' })
    await rig.call(deleteFile, { path: 'Docs/temp.md' })
    await rig.call(writeFile, { path: 'Docs/fail', content: 'x'.repeat(6_000_000) })
    expect(await list(rig)).toEqual([
      'added Docs/new.md null→6 undoable',
      'modified Docs/old.md 8→11 undoable',
      'deleted Docs/gone.md 3→null undoable',
      'modified Docs/there.md from Docs/here.md 5→5 undoable',
      'deleted Docs/temp.md null→null',
    ])
    expect((await rig.files.list(rig.job.id))[1]!.callIds).toEqual(['call_2', 'call_3'])
  })

  it('are found by listed and by absolute path, with and without a call', async () => {
    const rig = openFileRig()
    await rig.write('notes/a.md', 'one\n')
    const absolute = join(rig.docs, 'notes/a.md')
    await rig.call(editFile, { path: absolute, oldText: 'one', newText: 'two' })
    const listed = await diff(rig, 'Docs/notes/a.md')
    expect(listed.diff).toContain('+two')
    expect(await diff(rig, absolute)).toEqual(listed)
    expect(await diff(rig, absolute, 'call_1')).toEqual(listed)
    await rig.call(moveFile, { from: absolute, to: 'Docs/b.md' })
    expect(await diff(rig, absolute)).toMatchObject({ path: 'Docs/b.md' })
    expect((await undo(rig, join(rig.docs, 'b.md'))).undone).toBe(true)
  })

  it('follow moves', async () => {
    const rig = openFileRig()
    await rig.write('a', 'old')
    await rig.call(moveFile, { from: 'Docs/a', to: 'Docs/b' })
    await rig.call(editFile, { path: 'Docs/b', oldText: 'old', newText: 'newer' })
    await rig.call(moveFile, { from: 'Docs/b', to: 'Docs/c' })
    expect(await list(rig)).toEqual(['modified Docs/c from Docs/a 3→5 undoable'])
    expect((await rig.files.list(rig.job.id))[0]!.callIds).toEqual(['call_1', 'call_2', 'call_3'])
    await rig.call(moveFile, { from: 'Docs/c', to: 'Docs/a' })
    expect(await list(rig)).toEqual(['modified Docs/a 3→5 undoable'])
    await rig.call(writeFile, { path: 'Docs/n', content: 'n' })
    await rig.call(moveFile, { from: 'Docs/n', to: 'Docs/m' })
    expect((await list(rig)).at(-1)).toBe('added Docs/m null→1 undoable')
    await rig.call(moveFile, { from: 'Docs/a', to: 'Docs/z' })
    await rig.call(deleteFile, { path: 'Docs/z' })
    expect((await list(rig))[0]).toBe('deleted Docs/a 3→null undoable')
  })

  it('exclude files of other jobs', async () => {
    const rig = openFileRig()
    await rig.call(writeFile, { path: 'Docs/a', content: 'x' })
    rig.nextJob()
    expect(await list(rig)).toEqual([])
    await expect(diff(rig, 'Docs/a')).rejects.toMatchObject({ code: 'file_not_written' })
    await expect(undo(rig, 'Docs/a')).rejects.toMatchObject({ code: 'file_not_written' })
  })
})

describe('a diff', () => {
  it('covers the job or one call, even if the file has changed again or is gone', async () => {
    const rig = openFileRig()
    await rig.write('a.md', 'one\ntwo\nthree\n')
    await rig.call(editFile, { path: 'Docs/a.md', oldText: 'two', newText: 'TWO' })
    await rig.call(editFile, { path: 'Docs/a.md', oldText: 'three\n', newText: 'three\nfour' })
    const whole = '--- a/Docs/a.md\n+++ b/Docs/a.md\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n three\n+four\n\\ No newline at end of file\n'
    const check = async () => {
      expect(await diff(rig, 'Docs/a.md')).toEqual({ path: 'Docs/a.md', change: 'modified', diff: whole, truncated: false, binary: false })
      expect((await diff(rig, 'Docs/a.md', 'call_1')).diff).toBe(
        '--- a/Docs/a.md\n+++ b/Docs/a.md\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n',
      )
    }
    await check()
    await rig.write('a.md', 'all different')
    await check()
    await rm(rig.docs, { recursive: true })
    await check()
  })

  it('covers new, deleted and moved files', async () => {
    const rig = openFileRig()
    await rig.write('old', 'was\n')
    await rig.write('from', 'stays\n')
    await rig.call(writeFile, { path: 'Docs/new', content: 'is\n' })
    await rig.call(deleteFile, { path: 'Docs/old' })
    await rig.call(moveFile, { from: 'Docs/from', to: 'Docs/to' })
    expect(await diff(rig, 'Docs/new')).toMatchObject({ change: 'added', diff: '--- /dev/null\n+++ b/Docs/new\n@@ -0,0 +1,1 @@\n+is\n' })
    expect(await diff(rig, 'Docs/old')).toMatchObject({ change: 'deleted', diff: '--- a/Docs/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-was\n' })
    const moved = { path: 'Docs/to', change: 'modified', diff: '--- a/Docs/from\n+++ b/Docs/to\n', truncated: false, binary: false }
    expect(await diff(rig, 'Docs/to')).toEqual(moved)
    expect(await diff(rig, 'Docs/from')).toEqual(moved)
    expect(await diff(rig, 'Docs/to', 'call_3')).toEqual(moved)
  })

  it('says that a file is binary, or too large to have been kept', async () => {
    const rig = openFileRig()
    await rig.write('image.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
    await rig.call(writeFile, { path: 'Docs/image.png', content: 'now text' })
    expect(await diff(rig, 'Docs/image.png')).toEqual({
      path: 'Docs/image.png',
      change: 'modified',
      diff: '',
      truncated: false,
      binary: true,
    })
    await rig.write('huge.txt', Buffer.alloc(51 * 1024 * 1024, 'line\n'))
    await rig.call(writeFile, { path: 'Docs/huge.txt', content: 'small' })
    expect(await diff(rig, 'Docs/huge.txt')).toMatchObject({ diff: '', truncated: true, binary: false })
  })

  it('decodes UTF-16', async () => {
    const rig = openFileRig()
    await rig.write('w.txt', Buffer.from('\uFEFFÄ\r\nb\r\n', 'utf16le'))
    await rig.call(editFile, { path: 'Docs/w.txt', oldText: 'b', newText: 'c' })
    expect((await diff(rig, 'Docs/w.txt')).diff).toContain(' Ä\r\n-b\r\n+c\r\n')
  })

  it('of very large and different texts is fast, truncated and correct', async () => {
    const rig = openFileRig()
    const lines = (seed: string, n: number) => Array.from({ length: n }, (_, i) => `${seed} ${(i * 7919) % n}`).join('\n')
    await rig.write('big.txt', `same\n${lines('a', 200_000)}\nend\n`)
    await rig.call(writeFile, { path: 'Docs/big.txt', content: `same\n${lines('b', 40_000)}\nend\n` })
    const answer = await diff(rig, 'Docs/big.txt')
    expect(answer).toMatchObject({ truncated: true })
    expect(answer.diff.length).toBeLessThanOrEqual(200_000)
    expect(answer.diff).toMatch(/^--- a\/Docs\/big.txt\n\+\+\+ b\/Docs\/big.txt\n@@ /)
  })

  it('turns the old text into the new one', async () => {
    const rig = openFileRig()
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', 'ü'), { maxLength: 12 })
      .chain((l) => fc.constantFrom(l.join('\n'), `${l.join('\n')}\n`))
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        rig.nextJob()
        await rig.write('p', before)
        await rig.call(writeFile, { path: 'Docs/p', content: after })
        if (before === after) return
        const patch = (await diff(rig, 'Docs/p')).diff
        expect(applyPatch(before, patch)).toBe(after)
      }),
      { numRuns: 60 },
    )
  })

  it('refuses a path that the job did not write, without reading it', async () => {
    const rig = openFileRig()
    await rig.write(join(rig.outside, 'secret'), 'SECRET')
    await rig.call(writeFile, { path: 'Docs/a', content: 'x' })
    for (const path of [
      'b',
      'Docs/b',
      'Docs',
      'Docs/../outside/secret',
      'Docs/a/../../outside/secret',
      join(rig.outside, 'secret'),
      '/etc/passwd',
      'Docs/a\0',
      '\0',
      '..',
      'x'.repeat(8_000),
      '%2e%2e/outside/secret',
      '__proto__',
    ]) {
      await expect(diff(rig, path), path).rejects.toMatchObject({ code: 'file_not_written' })
      await expect(undo(rig, path, true), path).rejects.toMatchObject({ code: 'file_not_written' })
    }
    await expect(diff(rig, 'Docs/a', 'nope')).rejects.toMatchObject({ code: 'file_not_written' })
    await expect(rig.files.diff(rig.domain.ids.next(), 'Docs/a')).rejects.toMatchObject({ code: 'job_not_found' })
    // A link that was laid where the file stood shows what the job wrote, not what it leads to.
    await rm(join(rig.docs, 'a'))
    symlinkSync(join(rig.outside, 'secret'), join(rig.docs, 'a'))
    expect((await diff(rig, 'Docs/a')).diff).toBe('--- /dev/null\n+++ b/Docs/a\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n')
    expect((await rig.files.list(rig.job.id))[0]).toMatchObject({ undoable: false })
  })
})

describe('undoing', () => {
  it('restores the former content with its permissions, and emits an event', async () => {
    const rig = openFileRig()
    await chmod(await rig.write('run.sh', 'old'), 0o750)
    await rig.call(writeFile, { path: 'Docs/run.sh', content: 'new' })
    await rig.call(editFile, { path: 'Docs/run.sh', oldText: 'new', newText: 'newer' })
    rig.endJob()
    expect(await undo(rig, 'Docs/run.sh')).toMatchObject({ path: 'Docs/run.sh', change: 'modified', undone: true, undoable: false })
    expect([await rig.read('run.sh'), (await stat(join(rig.docs, 'run.sh'))).mode & 0o777]).toEqual(['old', 0o750])
    expect(listEventsAfter(rig.domain.db, 0).at(-1)).toMatchObject({
      type: 'files.undone',
      payload: { jobId: rig.job.id, path: 'Docs/run.sh' },
    })
    await expect(undo(rig, 'Docs/run.sh', true)).rejects.toMatchObject({
      code: 'file_cannot_be_undone',
      detail: expect.objectContaining({ code: 'undone_already' }),
    })
    // What the job did is still to be seen.
    expect((await diff(rig, 'Docs/run.sh')).diff).toContain('-old')
  })

  it('removes a new file, restores a deleted one and moves a moved one back', async () => {
    const rig = openFileRig()
    await rig.write('sub/gone', 'bye')
    await rig.write('from', 'stays')
    await rig.call(writeFile, { path: 'Docs/new', content: 'x' })
    await rig.call(deleteFile, { path: 'Docs/sub/gone' })
    await rig.call(moveFile, { from: 'Docs/from', to: 'Docs/to' })
    await rm(join(rig.docs, 'sub'), { recursive: true })
    for (const path of ['Docs/new', 'Docs/sub/gone', 'Docs/to']) expect(await undo(rig, path)).toMatchObject({ undone: true })
    expect(readdirSync(rig.docs).sort()).toEqual(['from', 'sub'])
    expect([await rig.read('sub/gone'), await rig.read('from')]).toEqual(['bye', 'stays'])
  })

  it('restores the old text of a file that was moved and changed', async () => {
    const rig = openFileRig()
    await rig.write('a', 'old')
    await rig.write('b', 'in the way')
    await rig.call(deleteFile, { path: 'Docs/b' })
    await rig.call(moveFile, { from: 'Docs/a', to: 'Docs/b' })
    await rig.call(editFile, { path: 'Docs/b', oldText: 'old', newText: 'new' })
    expect(await list(rig)).toEqual(['modified Docs/b from Docs/a 3→3 undoable'])
    await undo(rig, 'Docs/b')
    expect([await rig.read('a'), await rig.read('b')]).toEqual(['old', 'in the way'])
  })

  it('keeps later changes unless forced, and stores them then', async () => {
    const rig = openFileRig()
    await rig.write('a', 'old')
    await rig.call(writeFile, { path: 'Docs/a', content: 'new' })
    await rig.write('a', 'by a person')
    expect(await list(rig)).toEqual(['modified Docs/a 3→3'])
    await expect(undo(rig, 'Docs/a')).rejects.toMatchObject({ code: 'file_changed_since' })
    expect(await rig.read('a')).toBe('by a person')
    await undo(rig, 'Docs/a', true)
    expect(await rig.read('a')).toBe('old')
    const marks = rig.domain.db.prepare<{ before_mark: string }>("SELECT before_mark FROM file_changes WHERE op = 'undo'").all()
    expect((await rig.blobs.read(marks[0]!.before_mark))!.toString()).toBe('by a person')
  })

  it('lets the job write again', async () => {
    const rig = openFileRig()
    await rig.write('a', 'old')
    await rig.call(writeFile, { path: 'Docs/a', content: 'new' })
    await undo(rig, 'Docs/a')
    await rig.call(writeFile, { path: 'Docs/a', content: 'newer' })
    expect(await list(rig)).toEqual(['modified Docs/a 3→5 undoable'])
    await undo(rig, 'Docs/a')
    expect(await rig.read('a')).toBe('old')
  })

  it('follows no link that was created since', async () => {
    const rig = openFileRig()
    await rig.write(join(rig.outside, 'a'), 'SECRET')
    await rig.write('sub/a', 'old')
    await rig.call(writeFile, { path: 'Docs/sub/a', content: 'new' })
    await rig.call(writeFile, { path: 'Docs/new', content: 'new' })
    await rename(join(rig.docs, 'sub'), join(rig.docs, 'sub2'))
    symlinkSync(rig.outside, join(rig.docs, 'sub'))
    await rm(join(rig.docs, 'new'))
    symlinkSync(join(rig.outside, 'a'), join(rig.docs, 'new'))
    for (const path of ['Docs/sub/a', 'Docs/new']) {
      await expect(undo(rig, path)).rejects.toMatchObject({ code: 'file_changed_since' })
      await expect(undo(rig, path, true)).rejects.toMatchObject({ code: 'file_cannot_be_undone' })
    }
    expect(await rig.read(join(rig.outside, 'a'))).toBe('SECRET')
  })

  it('happens once if requested twice at a time', async () => {
    const rig = openFileRig()
    await rig.call(writeFile, { path: 'Docs/a', content: 'x' })
    const files = rig.files
    const results = await Promise.allSettled([files.undo(rig.job.id, 'Docs/a', false), files.undo(rig.job.id, 'Docs/a', false)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(existsSync(join(rig.docs, 'a'))).toBe(false)
  })

  it('is not taken for the rest of a crash by those who list the files meanwhile', async () => {
    const rig = openFileRig()
    const old = 'old\n'.repeat(200_000)
    await rig.write('a.txt', old)
    await rig.call(writeFile, { path: 'Docs/a.txt', content: 'new' })
    rig.endJob()
    const { files } = rig
    const undoing = files.undo(rig.job.id, 'Docs/a.txt', false)
    while (listStartedChanges(rig.domain.db, rig.job.id).length === 0) await setImmediate()
    expect(await files.list(rig.job.id)).toMatchObject([{ path: 'Docs/a.txt', undone: true }])
    expect(await undoing).toMatchObject({ undone: true })
    expect(await rig.read('a.txt')).toBe(old)
  })

  it('explains why it is impossible', async () => {
    const rig = openFileRig()
    await rig.write('a', 'old')
    await rig.call(writeFile, { path: 'Docs/a', content: 'new' })
    await rm(rig.docs, { recursive: true })
    await expect(undo(rig, 'Docs/a', true)).rejects.toMatchObject({
      code: 'file_cannot_be_undone',
      message: expect.stringContaining('does not exist any more'),
    })
  })
})
