import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mountSmallDisk } from '../../src-runner/testing/small-disk.ts'
import { silentLog } from '../log/log.ts'
import { descriptionName, startUpdateServer, type PublishOptions, type UpdateServer } from '../testing/update-server.ts'
import { localFeed, type UpdateFeed } from './feed.ts'
import type { UpdateSource } from './update-source.ts'
import { createUpdater, type UpdaterDeps } from './updater.ts'

const DISK = process.platform === 'linux' ? mountSmallDisk(2) : null
const NEW = Buffer.from('#!/bin/sh\necho "the new version" > "$0.ran"\n')

let folder: string
let appImage: string
let server: UpdateServer
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-updates-'))
  appImage = join(folder, 'Deckhand.AppImage')
  writeFileSync(appImage, 'the present version')
  chmodSync(appImage, 0o755)
  vi.stubEnv('APPIMAGE', appImage)
  server = await startUpdateServer()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function open(change: Partial<UpdaterDeps> = {}): UpdateSource {
  return createUpdater({
    feed: localFeed(server),
    kind: 'app',
    version: '1.2.0',
    cacheDir: join(folder, 'cache'),
    resources: folder,
    appImage,
    quit: () => undefined,
    log: silentLog,
    // Node instead of Electron; everything above it is the real thing.
    send: (options, onResponse) => request(options, onResponse as never) as never,
    ...change,
  })
}

/** A host like GitHub that calls its newest release `tag`. `redirects`: paths below the releases, and where they lead. */
function hostLikeGitHub(tag: string, redirects: Record<string, string> = {}): UpdateFeed {
  const { host } = new URL(server.url)
  const link = `<link href="http://${host}/ann/deckhand/releases/tag/v1.3.0"/>`
  server.answer('ann/deckhand/releases.atom', (_request, response) => response.end(`<feed><entry>${link}</entry></feed>`))
  server.answer('api/v3/repos/ann/deckhand/releases/latest', (_request, response) => response.end(JSON.stringify({ tag_name: tag })))
  for (const [path, name] of Object.entries(redirects)) {
    const location = server.url + name
    server.answer(`ann/deckhand/releases/${path}`, (_request, response) => response.writeHead(302, { location }).end())
  }
  const provider = { provider: 'github', owner: 'ann', repo: 'deckhand', protocol: 'http', host } as const
  return { ...localFeed(server), provider }
}

/** The description and its signature, where a tag puts them. */
const describedAt = (folderOfTag: string, channel?: 'beta') =>
  Object.fromEntries(['', '.sig'].map((end) => [`download/${folderOfTag}/${descriptionName()}${end}`, `${descriptionName(channel)}${end}`]))

const pending = () => (existsSync(join(folder, 'cache')) ? readdirSync(join(folder, 'cache'), { recursive: true }).map(String) : [])
const appImageName = (version: string) => `Deckhand-${version}-linux-${process.arch}.AppImage`

describe.skipIf(process.platform !== 'linux')('an update from a real server', () => {
  it('is found, downloaded whole and put in the place of the present version', async () => {
    server.publish('1.3.0', NEW, { notes: 'Faster <b>lists</b>.\r\n\r\n\r\n\r\nFewer\u202e faults.' })
    const updater = open()
    expect(await updater.check('stable')).toEqual({
      version: '1.3.0',
      notes: 'Faster lists.\n\nFewer faults.',
      bytes: NEW.length,
      kind: 'app',
      file: appImageName('1.3.0'),
      page: null,
    })
    const percents: number[] = []
    await updater.download((percent) => percents.push(percent))
    expect(percents.at(-1)).toBe(100)
    expect(readFileSync(appImage, 'utf8')).toBe('the present version')

    updater.install({ restart: true })
    expect(readFileSync(appImage)).toEqual(NEW)
    expect(statSync(appImage).mode & 0o777).toBe(0o755)
    await expect.poll(() => existsSync(`${appImage}.ran`)).toBe(true)
    expect(readdirSync(folder)).not.toContain('Deckhand.AppImage.new')
  })

  it('that was downloaded before is not downloaded again', async () => {
    server.publish('1.3.0', NEW)
    for (const _start of [1, 2]) {
      const updater = open()
      await updater.check('stable')
      await updater.download(() => undefined)
    }
    expect(server.requests().filter((path) => path.endsWith('.AppImage'))).toHaveLength(1)
  })

  it('that was downloaded can be installed after later checks, until there is another version', async () => {
    server.publish('1.3.0', NEW)
    const updater = open()
    await updater.check('stable')
    await updater.download(() => undefined)
    expect((await updater.check('stable'))?.version).toBe('1.3.0')
    server.answer(descriptionName(), (asked) => asked.socket.destroy(), 1)
    await expect(updater.check('stable')).rejects.toMatchObject({ code: 'offline' })
    updater.install({ restart: false })
    expect(readFileSync(appImage)).toEqual(NEW)

    server.publish('1.3.1', NEW)
    await updater.check('stable')
    expect(() => updater.install({ restart: false })).toThrow('nothing was downloaded')
  })

  it('follows the channel, and a beta is older than its release', async () => {
    server.publish('1.3.0', NEW)
    server.publish('1.4.0-beta.2', NEW, { channel: 'beta' })
    expect((await open().check('stable'))?.version).toBe('1.3.0')
    expect((await open().check('beta'))?.version).toBe('1.4.0-beta.2')
    expect(await open({ version: '1.4.0' }).check('beta')).toBeNull()
  })

  it.each(['1.2.0', '1.1.9', '0.9.0', '1.2.0-beta.1'])('is refused if it is no newer: %s', async (version) => {
    server.publish(version, NEW)
    server.publish(version, NEW, { channel: 'beta' })
    expect(await open().check('stable')).toBeNull()
    expect(await open().check('beta')).toBeNull()
  })

  it.each<[string, PublishOptions]>([
    ['nobody signed', { signedBy: 'nobody' }],
    ['a stranger signed', { signedBy: 'stranger' }],
  ])('is refused if %s its description', async (_who, options) => {
    server.publish('1.3.0', NEW, options)
    await expect(open().check('stable')).rejects.toMatchObject({ code: 'signature' })
    expect(server.requests().filter((path) => path.endsWith('.AppImage'))).toEqual([])
  })

  it('is refused if the description changed after it was signed', async () => {
    server.publish('1.3.0', NEW)
    server.answer(descriptionName(), (_request, response) => response.end(JSON.stringify({ version: '9.0.0', files: [] })))
    await expect(open().check('stable')).rejects.toMatchObject({ code: 'signature' })
  })

  it('is found at a host like GitHub', async () => {
    server.publish('1.3.0', NEW)
    const feed = hostLikeGitHub('v1.3.0', describedAt('v1.3.0'))
    expect(await open({ feed }).check('stable')).toMatchObject({ version: '1.3.0', file: appImageName('1.3.0') })
  })

  it.each([
    ['v9.9.9/notes.txt#', 'download/v9.9.9/notes.txt'],
    ['v9.9.9/notes.txt?', 'download/v9.9.9/notes.txt'],
    ['../newest#', 'newest'],
  ])('is refused if its tag leads to a description that nobody signed: %s', async (tag, path) => {
    server.publish('1.3.0', NEW, { signedBy: 'nobody' })
    const feed = hostLikeGitHub(tag, { [path]: descriptionName() })
    await expect(open({ feed }).check('stable')).rejects.toMatchObject({ code: 'signature' })
  })

  it('is refused if its tag is no version', async () => {
    server.publish('1.3.0', NEW)
    const feed = hostLikeGitHub('nightly', describedAt('nightly'))
    await expect(open({ feed }).check('stable')).rejects.toMatchObject({ code: 'invalid' })
  })

  it('is refused if it is a signed beta that is offered as a stable version', async () => {
    server.publish('1.4.0-beta.2', NEW, { channel: 'beta' })
    const feed = hostLikeGitHub('v1.4.0', describedAt('v1.4.0', 'beta'))
    await expect(open({ feed }).check('stable')).rejects.toMatchObject({ code: 'invalid' })
    expect((await open({ feed: localFeed(server) }).check('beta'))?.version).toBe('1.4.0-beta.2')
  })

  it('is discarded if the file is another one than was signed', async () => {
    server.publish('1.3.0', NEW)
    const evil = Buffer.from(NEW)
    evil[5] = 0
    server.answer(appImageName('1.3.0'), (_request, response) => response.end(evil))
    const updater = open()
    await updater.check('stable')
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'digest' })
    expect(pending().filter((name) => name.includes('AppImage'))).toEqual([])
    expect(() => updater.install({ restart: false })).toThrow('nothing was downloaded')
    expect(readFileSync(appImage, 'utf8')).toBe('the present version')
  })

  it('starts again after a cut, and is whole then', async () => {
    const large = Buffer.alloc(300_000, 'x')
    server.publish('1.3.0', large)
    server.answer(
      appImageName('1.3.0'),
      (_request, response) => {
        response.writeHead(200, { 'content-length': large.length })
        response.write(large.subarray(0, 100_000), () => response.destroy())
      },
      1,
    )
    const updater = open()
    await updater.check('stable')
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'offline' })
    expect(pending().filter((name) => name.includes('AppImage'))).toEqual([])
    await updater.download(() => undefined)
    updater.install({ restart: false })
    expect(readFileSync(appImage)).toEqual(large)
  })

  it('gives up on a server that says nothing, before and during a download', async () => {
    server.publish('1.3.0', NEW)
    server.answer(descriptionName(), () => undefined, 1)
    const updater = open({ silenceMs: 100 })
    await expect(updater.check('stable')).rejects.toMatchObject({ code: 'timeout' })
    // On a busy machine a good answer may need longer than this limit.
    await expect.poll(() => updater.check('stable').catch(() => null)).not.toBeNull()
    server.answer(appImageName('1.3.0'), (_request, response) => {
      response.writeHead(200, { 'content-length': NEW.length })
      response.write(NEW.subarray(0, 10))
    })
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'timeout' })
  })

  it('is cut off if it is larger than announced, whether the server says so or not', async () => {
    server.publish('1.3.0', NEW)
    const updater = open()
    const flood = (_request: unknown, response: import('node:http').ServerResponse) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', more)
      more()
    }
    server.answer(descriptionName(), flood, 1)
    await expect(updater.check('stable')).rejects.toMatchObject({ code: 'too_large' })
    await updater.check('stable')
    server.answer(appImageName('1.3.0'), flood, 1)
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'too_large' })
    server.answer(appImageName('1.3.0'), (_request, response) => response.writeHead(200, { 'content-length': 10 ** 12 }).flushHeaders(), 1)
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'too_large' })
  })

  it('never comes from another address, also not by a redirect', async () => {
    const other = await startUpdateServer()
    onTestFinished(() => other.close())
    server.publish('1.3.0', NEW)
    other.publish('1.3.0', NEW)
    const redirect = (_request: unknown, response: import('node:http').ServerResponse) =>
      void response.writeHead(302, { location: `${other.url}${appImageName('1.3.0')}` }).end()
    server.answer(descriptionName(), redirect, 1)
    const updater = open()
    await expect(updater.check('stable')).rejects.toMatchObject({ code: 'refused_address' })
    await updater.check('stable')
    server.answer(appImageName('1.3.0'), redirect, 1)
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'refused_address' })
    expect(other.requests()).toEqual([])
  })

  it.each<[string, NonNullable<PublishOptions['change']>, string]>([
    ['nothing', () => '', 'invalid'],
    ['no YAML', () => '\t- : : [', 'invalid'],
    ['a list', () => '[1, 2]', 'invalid'],
    ['no version', (it) => ({ ...it, version: undefined }), 'invalid'],
    ['a version that is none', (it) => ({ ...it, version: '9.9.9; rm -rf /' }), 'invalid'],
    ['no files', (it) => ({ ...it, files: [] }), 'invalid'],
    ['no digest', (it) => ({ ...it, files: [{ url: 'a.AppImage', size: 1 }] }), 'invalid'],
    ['an address', (it) => ({ ...it, files: [{ ...it.files[0]!, url: 'https://evil.example/a.AppImage' }] }), 'invalid'],
    ['a path', (it) => ({ ...it, files: [{ ...it.files[0]!, url: '../../.bashrc.AppImage' }] }), 'invalid'],
    ['a size of a disk', (it) => ({ ...it, files: [{ ...it.files[0]!, size: 1e15 }] }), 'invalid'],
    ['a program of JavaScript', () => 'version: !!js/function "function(){ return 1 }"', 'invalid'],
    [
      'an entity bomb',
      () => `a: &a [x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nversion: 9.9.9\nfiles: [*c, *c, *c]`,
      'invalid',
    ],
    ['only files of other systems', (it) => ({ ...it, files: [{ ...it.files[0]!, url: 'Deckhand.dmg' }] }), 'invalid'],
  ])('whose description says %s is refused, even if it is signed', async (_what, change, code) => {
    server.publish('1.3.0', NEW, { change })
    await expect(open().check('stable')).rejects.toMatchObject({ code })
  })

  it.each([
    ['an error of the server', 500, 'server'],
    ['no description', 404, 'server'],
  ])('says what is wrong: %s', async (_what, status, code) => {
    server.answer(descriptionName(), (_request, response) => void response.writeHead(status).end())
    await expect(open().check('stable')).rejects.toMatchObject({ code })
  })

  it('cannot be looked for without a connection', async () => {
    server.answer(descriptionName(), (asked) => asked.socket.destroy())
    await expect(open().check('stable')).rejects.toMatchObject({ code: 'offline' })
  })

  it.skipIf(DISK === null)('survives a full disk while it downloads, and works when there is space again', async () => {
    onTestFinished(() => DISK!.remove())
    const large = Buffer.alloc(900_000, 'y')
    server.publish('1.3.0', large)
    const updater = open({ cacheDir: DISK!.folder })
    await updater.check('stable')
    DISK!.fill(1_700_000)
    await expect(updater.download(() => undefined)).rejects.toMatchObject({ code: 'disk_full' })
    DISK!.free()
    await updater.download(() => undefined)

    const onDisk = join(DISK!.folder, 'Deckhand.AppImage')
    writeFileSync(onDisk, 'the present version')
    const full = open({ cacheDir: DISK!.folder, appImage: onDisk })
    await full.check('stable')
    await full.download(() => undefined)
    DISK!.fill()
    expect(() => full.install({ restart: false })).toThrow(/ENOSPC/)
    expect(readFileSync(onDisk, 'utf8')).toBe('the present version')
    expect(readdirSync(DISK!.folder)).not.toContain('Deckhand.AppImage.new')
    DISK!.free()
    full.install({ restart: false })
    expect(createHash('sha256').update(readFileSync(onDisk)).digest('hex')).toBe(createHash('sha256').update(large).digest('hex'))
  })

  it.each([
    ['deb', 'amd64.deb'],
    ['rpm', 'x86_64.rpm'],
    ['archive', 'x64.tar.gz'],
  ] as const)('names the file that a person installs: %s', async (kind, extension) => {
    server.publish('1.3.0', NEW, {
      change: (it) => ({
        ...it,
        files: ['amd64.deb', 'x86_64.rpm', 'x64.tar.gz'].map((end) => ({ ...it.files[0]!, url: `Deckhand-1.3.0-linux-${end}` })),
      }),
    })
    expect(await open({ kind, appImage: null }).check('stable')).toMatchObject({ kind, file: `Deckhand-1.3.0-linux-${extension}` })
  })
})

it('asks for nothing before the first check', () => {
  mkdirSync(join(folder, 'cache'))
  open()
  expect(server.requests()).toEqual([])
})
