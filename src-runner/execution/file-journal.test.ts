import { readdirSync, statSync } from 'node:fs'
import { link, mkdir, symlink, truncate, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { transact } from '../platform/db/database.ts'
import { listChanges } from '../domain/files/file-changes.ts'
import { openFileRig, type FileRig } from '../testing/file-rig.ts'
import { deleteFile } from '../agent/tools/delete-file/delete-file.ts'
import { editFile } from '../agent/tools/edit-file/edit-file.ts'
import type { FileJournal } from '../agent/tools/file-journal.ts'
import { moveFile } from '../agent/tools/move-file/move-file.ts'
import type { Tool } from '../agent/tools/tool.ts'
import { writeFile } from '../agent/tools/write-file/write-file.ts'

const states = (rig: FileRig) => listChanges(rig.domain.db, rig.job.id).map(({ op, state }) => `${op} ${state}`)

/** The process dies at this point of a call: what comes behind it never happens. */
class Died extends Error {}
type CrashPoint = 'before it is begun' | 'begun, nothing done' | 'done, not recorded'

function dyingJournal(journal: FileJournal, point: CrashPoint): FileJournal {
  return {
    ...journal,
    async begin(callId, change) {
      if (point === 'before it is begun') throw new Died()
      const entry = await journal.begin(callId, change)
      if (point === 'begun, nothing done') throw new Died()
      return { done: () => Promise.reject(new Died()), failed: () => Promise.reject(new Died()), entry }
    },
  }
}

type Case = {
  name: string
  tool: Tool
  args: Record<string, unknown>
  before: Record<string, string>
  after: Record<string, string>
  says: string
}

const CASES: Case[] = [
  {
    name: 'a new file',
    tool: writeFile,
    args: { path: 'Docs/a', content: 'new' },
    before: {},
    after: { a: 'new' },
    says: 'Created Docs/a (3 bytes).',
  },
  {
    name: 'a file that is replaced',
    tool: writeFile,
    args: { path: 'Docs/a', content: 'new' },
    before: { a: 'old text' },
    after: { a: 'new' },
    says: 'Replaced Docs/a (8 bytes before, 3 bytes now).',
  },
  {
    name: 'an edit',
    tool: editFile,
    // The new text holds the old one: made twice, it would be there twice.
    args: { path: 'Docs/a', oldText: 'x', newText: 'x and x', replaceAll: true },
    before: { a: 'x' },
    after: { a: 'x and x' },
    says: 'Changed Docs/a',
  },
  {
    name: 'a move',
    tool: moveFile,
    args: { from: 'Docs/a', to: 'Docs/b' },
    before: { a: 'x' },
    after: { b: 'x' },
    says: 'Moved Docs/a to Docs/b.',
  },
  { name: 'a deletion', tool: deleteFile, args: { path: 'Docs/a' }, before: { a: 'x' }, after: {}, says: 'Deleted Docs/a permanently' },
]

const contents = async (rig: FileRig) =>
  Object.fromEntries(await Promise.all(readdirSync(rig.docs).map(async (name) => [name, await rig.read(name)])))

describe.each(CASES)('$name, cut off by a crash', ({ tool, args, before, after, says }) => {
  async function crashAt(point: CrashPoint) {
    const rig = openFileRig()
    for (const [name, text] of Object.entries(before)) await rig.write(name, text)
    await rig.call(tool, args, { callId: 'c', journal: dyingJournal(rig.journal, point) })
    await rig.crash()
    return rig
  }

  it.each<CrashPoint>(['before it is begun', 'begun, nothing done', 'done, not recorded'])('%s: takes effect once', async (point) => {
    const rig = await crashAt(point)
    expect(await contents(rig)).toEqual(point === 'done, not recorded' ? after : before)
    expect(await rig.call(tool, args, { callId: 'c' })).toMatchObject({ ok: true, output: expect.stringContaining(says) })
    expect(await contents(rig)).toEqual(after)
    expect(states(rig).filter((line) => line.endsWith('done'))).toHaveLength(1)
    // And once more, as when the process dies before the result is recorded.
    await rig.crash()
    expect(await rig.call(tool, args, { callId: 'c' })).toMatchObject({ ok: true, output: expect.stringContaining(says) })
    expect(await contents(rig)).toEqual(after)
  })

  it('done, not recorded, then changed by a person: the change of the person stays', async () => {
    const rig = openFileRig()
    for (const [name, text] of Object.entries(before)) await rig.write(name, text)
    await rig.call(tool, args, { callId: 'c', journal: dyingJournal(rig.journal, 'done, not recorded') })
    await rig.write('a', 'by a person')
    await rig.write('b', 'by a person')
    await rig.crash()
    expect(await rig.call(tool, args, { callId: 'c' })).toEqual({
      ok: false,
      output: expect.stringContaining('is now neither as it was before nor as the call wanted it. The call was not repeated.'),
    })
    expect(await contents(rig)).toEqual({ a: 'by a person', b: 'by a person' })
    expect(states(rig)).toEqual([expect.stringContaining('unclear')])
  })
})

it('finishes a move that crashed between its two names', async () => {
  const rig = openFileRig()
  await rig.write('a', 'x')
  const args = { from: 'Docs/a', to: 'Docs/b' }
  await rig.call(moveFile, args, { callId: 'c', journal: dyingJournal(rig.journal, 'begun, nothing done') })
  await link(join(rig.docs, 'a'), join(rig.docs, 'b'))
  await rig.crash()
  expect(await rig.call(moveFile, args, { callId: 'c' })).toEqual({ ok: true, output: 'Moved Docs/a to Docs/b.' })
  expect(await contents(rig)).toEqual({ b: 'x' })
})

it('removes a draft that a crash left', async () => {
  const rig = openFileRig()
  await rig.call(writeFile, { path: 'Docs/a', content: 'x' }, { callId: 'c', journal: dyingJournal(rig.journal, 'begun, nothing done') })
  await rig.write(`.deckhand-${rig.job.id.slice(-12)}-c.tmp`, 'half')
  await rig.crash()
  expect(readdirSync(rig.docs)).toEqual([])
})

it('keeps the former content on disk before it touches the file', async () => {
  const rig = openFileRig()
  await rig.write('a', 'precious')
  const seen: string[] = []
  const watching: FileJournal = {
    ...rig.journal,
    async begin(callId, change) {
      const entry = await rig.journal.begin(callId, change)
      const kept = await rig.blobs.read(change.before!.mark)
      seen.push(`${states(rig).join()} | kept ${kept!.toString()} | file ${await rig.read('a')}`)
      return entry
    },
  }
  await rig.call(writeFile, { path: 'Docs/a', content: 'new' }, { journal: watching })
  expect(seen).toEqual(['write started | kept precious | file precious'])
  expect(states(rig)).toEqual(['write done'])
})

it('an attempt without its claim begins no change', async () => {
  const rig = openFileRig()
  transact(rig.domain.db, (tx) => rig.domain.store.failStuck(tx, -1))
  expect(await rig.call(writeFile, { path: 'Docs/a', content: 'x' })).toEqual({
    ok: false,
    output: expect.stringContaining('is not the current one'),
  })
  expect(readdirSync(rig.docs)).toEqual([])
  expect(states(rig)).toEqual([])
})

it('records a failed change as void', async () => {
  const rig = openFileRig()
  await rig.write('a', 'x')
  const meddling: FileJournal = {
    ...rig.journal,
    async begin(callId, change) {
      const entry = await rig.journal.begin(callId, change)
      await rig.write('a', 'x')
      return entry
    },
  }
  await unlink(join(rig.docs, 'a')).then(() => rig.write('a', 'x'))
  const { ok } = await rig.call(deleteFile, { path: 'Docs/a' }, { journal: meddling })
  expect(ok).toBe(false)
  expect(states(rig)).toEqual(['delete void'])
  expect(await rig.files.list(rig.job.id)).toEqual([])
})

it('changes nothing without a journal', async () => {
  const rig = openFileRig()
  const context = { jobId: 'j', agentId: 'a', callId: 'c', folders: [rig.docs], closedFolders: [], signal: new AbortController().signal }
  await expect(writeFile.run({ path: 'Docs/a', content: 'x' }, context)).rejects.toThrow('nothing keeps what was in them')
  expect(readdirSync(rig.docs)).toEqual([])
})

describe('ownership of a file', () => {
  const facts = async (rig: FileRig, tool: Tool = writeFile, args: object = { path: 'Docs/a', content: 'other' }) =>
    (await rig.facts(tool, args as Record<string, unknown>)).overwrites

  it('belongs to the agent that wrote all of it, until somebody else changes it', async () => {
    const rig = openFileRig()
    expect(await facts(rig)).toBe(false)
    await rig.call(writeFile, { path: 'Docs/a', content: 'mine' })
    expect(await facts(rig)).toBe(false)
    rig.nextJob()
    expect(await facts(rig)).toBe(false)
    rig.nextJob('Grace')
    expect(await facts(rig)).toBe(true)
    rig.nextJob()
    await rig.write('a', 'mine and yours')
    expect(await facts(rig)).toBe(true)
  })

  it('stays with the person if the agent only edits or moves it', async () => {
    const rig = openFileRig()
    await rig.write('a', 'the person wrote this')
    await rig.call(editFile, { path: 'Docs/a', oldText: 'this', newText: 'that' })
    expect(await facts(rig)).toBe(true)
    await rig.call(moveFile, { from: 'Docs/a', to: 'Docs/b' })
    expect(await facts(rig, writeFile, { path: 'Docs/b', content: 'x' })).toBe(true)
    await rig.call(writeFile, { path: 'Docs/b', content: 'all mine' })
    await rig.call(moveFile, { from: 'Docs/b', to: 'Docs/c' })
    await rig.call(editFile, { path: 'Docs/c', oldText: 'all', newText: 'still' })
    expect(await facts(rig, writeFile, { path: 'Docs/c', content: 'x' })).toBe(false)
  })
})

describe('the facts of a change', () => {
  it('are exact', async () => {
    const rig = openFileRig()
    await rig.write('notes.md', 'x'.repeat(2048))
    await mkdir(join(rig.docs, 'sub'))
    const of = async (tool: Tool, args: Record<string, unknown>) => {
      const { summary, subject, paths, deletes, overwrites, leavesMachine, runsCode } = await rig.facts(tool, args)
      expect([leavesMachine, runsCode]).toEqual([false, false])
      return { summary, subject, paths: paths.map((path) => path.replace(rig.docs, '~')), deletes, overwrites }
    }
    const content = 'y'.repeat(3072)
    expect(await of(writeFile, { path: 'Docs/sub/../notes.md', content })).toEqual({
      summary: 'Overwrite Docs/notes.md (2 kB → 3.1 kB)',
      subject: 'Docs/notes.md',
      paths: ['~/notes.md'],
      deletes: false,
      overwrites: true,
    })
    expect(await of(writeFile, { path: 'Docs/p/q.md', content: 'x', makeFolders: true })).toEqual({
      summary: 'Create Docs/p/q.md (1 byte)',
      subject: 'Docs/p/q.md',
      paths: ['~/p/q.md'],
      deletes: false,
      overwrites: false,
    })
    expect(await of(moveFile, { from: 'Docs/notes.md', to: 'Docs/sub/n.md' })).toEqual({
      summary: 'Move Docs/notes.md (2 kB) to Docs/sub/n.md',
      subject: 'Docs/notes.md -> Docs/sub/n.md',
      paths: ['~/notes.md', '~/sub/n.md'],
      deletes: false,
      overwrites: true,
    })
    expect(await of(deleteFile, { path: 'Docs/notes.md' })).toEqual({
      summary: 'Delete Docs/notes.md permanently (2 kB)',
      subject: 'Docs/notes.md',
      paths: ['~/notes.md'],
      deletes: true,
      overwrites: false,
    })
    await expect(of(deleteFile, { path: '/etc/passwd' })).rejects.toThrow("'/etc/passwd' is outside of the agent's folders")
    expect(readdirSync(rig.docs).sort()).toEqual(['notes.md', 'sub'])
  })

  it('name both files of a move, as asked for and where links lead', async () => {
    const rig = openFileRig()
    await rig.write('in/a.env', 'x')
    await mkdir(join(rig.docs, 'out'))
    await symlink('in', join(rig.docs, 'l'))
    expect(await rig.facts(moveFile, { from: 'Docs/l/a.env', to: 'Docs/out/a' })).toMatchObject({
      subject: 'Docs/l/a.env -> Docs/out/a',
      realSubject: 'Docs/in/a.env -> Docs/out/a',
      alsoSubjects: ['Docs/l/a.env', 'Docs/in/a.env', 'Docs/out/a', 'Docs/out/a'],
    })
  })

  it('say that the content is too large to keep', async () => {
    const rig = openFileRig()
    await rig.write('disk.img', 'head')
    await truncate(join(rig.docs, 'disk.img'), 60 * 1024 * 1024)
    expect((await rig.facts(writeFile, { path: 'Docs/disk.img', content: '' })).summary).toContain(
      'too large to keep, so this cannot be undone',
    )
    expect((await rig.facts(deleteFile, { path: 'Docs/disk.img' })).summary).toContain('too large to keep, so this cannot be undone')
    expect((await rig.call(deleteFile, { path: 'Docs/disk.img' })).output).toContain('It was too large to be kept.')
    const [file] = await rig.files.list(rig.job.id)
    expect(file).toMatchObject({ change: 'deleted', sizeBefore: 60 * 1024 * 1024, undoable: false })
    await expect(rig.files.undo(rig.job.id, 'Docs/disk.img', true)).rejects.toMatchObject({ code: 'file_cannot_be_undone' })
  })
})

it('only the owner can read kept contents', async () => {
  const rig = openFileRig()
  await rig.call(writeFile, { path: 'Docs/a', content: 'secret' })
  const kept = join(rig.domain.folder, 'files')
  const [first] = readdirSync(kept)
  const [blob] = readdirSync(join(kept, first!))
  expect(statSync(join(kept, first!, blob!)).mode & 0o777).toBe(0o600)
  expect(statSync(kept).mode & 0o777).toBe(0o700)
})
