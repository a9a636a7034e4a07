import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareDataDir } from './data-dir.ts'
import { networkShareProblem } from './network-share.ts'

let folder: string
let dataDir: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-data-dir-'))
  dataDir = join(folder, 'data')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (...parts: string[]) => (statSync(join(...parts)).mode & 0o777).toString(8)

describe.runIf(process.platform !== 'win32')('the modes of the data folder', () => {
  it('are for the owner only, also those of files that everybody could read', () => {
    mkdirSync(dataDir)
    const own = ['deckhand.db', 'deckhand.db-wal', 'auth.db', 'settings.json', 'vault-file.key', 'browser-link.json']
    for (const name of [...own, 'notes of mine.txt']) writeFileSync(join(dataDir, name), '')
    for (const name of [...own, 'notes of mine.txt']) chmodSync(join(dataDir, name), 0o644)
    chmodSync(dataDir, 0o755)
    prepareDataDir(dataDir)
    expect(modeOf(dataDir)).toBe('700')
    expect(own.map((name) => modeOf(dataDir, name))).toEqual(own.map(() => '600'))
    expect(modeOf(dataDir, 'notes of mine.txt')).toBe('644')
  })

  it('are also those of a database that is a link, and a link that leads nowhere is left to the runner', () => {
    mkdirSync(dataDir)
    writeFileSync(join(folder, 'elsewhere.db'), '')
    chmodSync(join(folder, 'elsewhere.db'), 0o644)
    symlinkSync(join(folder, 'elsewhere.db'), join(dataDir, 'deckhand.db'))
    symlinkSync(join(folder, 'nothing.db'), join(dataDir, 'auth.db'))
    prepareDataDir(dataDir)
    expect(modeOf(folder, 'elsewhere.db')).toBe('600')
  })

  it('stay as they are in a folder that is right', () => {
    prepareDataDir(dataDir)
    writeFileSync(join(dataDir, 'settings.json'), '', { mode: 0o400 })
    prepareDataDir(dataDir)
    expect([modeOf(dataDir), modeOf(dataDir, 'settings.json')]).toEqual(['700', '400'])
  })
})

describe.runIf(process.platform !== 'win32')('a data folder on a network share', () => {
  const mounts =
    (...lines: string[]) =>
    () =>
      ['/dev/sda1 / ext4 rw 0 0', 'tmpfs /tmp tmpfs rw 0 0', ...lines, ''].join('\n')
  const typeFound = (read: () => string) => networkShareProblem(dataDir, read)?.params

  it.each(['nfs', 'nfs4', 'cifs', 'smb3', '9p', 'fuse.sshfs'])('%s is reported', (type) => {
    mkdirSync(dataDir)
    expect(typeFound(mounts(`server:/x ${folder} ${type} rw 0 0`))).toEqual({ folder: dataDir, type })
  })

  it.each([
    ['a disk', () => [`/dev/sdb1 ${folder} ext4 rw 0 0`]],
    ['a disk inside a share', () => [`server:/x ${folder} nfs rw 0 0`, `/dev/sdb1 ${dataDir} xfs rw 0 0`]],
    ['a disk over a share', () => [`server:/x ${dataDir} nfs rw 0 0`, `/dev/sdb1 ${dataDir} ext4 rw 0 0`]],
    ['a disk beside a share whose name begins like it', () => [`server:/x ${dataDir.slice(0, -1)} nfs rw 0 0`]],
  ])('%s is none', (_case, lines) => {
    mkdirSync(dataDir)
    expect(typeFound(mounts(...lines()))).toBeUndefined()
  })

  it('is found behind links and spaces', () => {
    const share = join(folder, 'my share')
    mkdirSync(share)
    symlinkSync(share, dataDir)
    expect(typeFound(mounts(`//nas/x ${folder}/my\\040share cifs rw 0 0`))).toEqual({ folder: dataDir, type: 'cifs' })
  })

  it('is found when only the database is there', () => {
    const share = join(folder, 'share')
    for (const made of [share, dataDir]) mkdirSync(made)
    writeFileSync(join(share, 'real.db'), '')
    symlinkSync(join(share, 'real.db'), join(dataDir, 'deckhand.db'))
    expect(typeFound(mounts(`//nas/x ${share} cifs rw 0 0`))).toEqual({ folder: dataDir, type: 'cifs' })
  })
})
