import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { findDebFaults, findFaults, findUnloadable, readRecommends } from './check-package.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

describe('an unpacked app', () => {
  const LICENSES = ['better-sqlite3', 'electron', 'fastify', 'keytar', 'solid-js', 'tailwindcss', 'zod'].map(
    (name) => `\n${name} 1.0.0 (MIT)\n`,
  )
  const GOOD = {
    'out/main/main.js': 'start()',
    'out/renderer/third-party-licenses.txt': LICENSES.join(''),
    LICENSE: 'MIT',
    'package.json': '{}',
  }
  const FUSES = '01001100'

  type Contents = { asar?: Record<string, string>; fuses?: string; more?: string[]; isTest?: boolean; repository?: string }

  function write({ asar = GOOD, fuses = FUSES, more = [], isTest = false, repository }: Contents = {}) {
    for (const file of ['LICENSE.electron.txt', 'LICENSES.chromium.html', ...more]) put(file, '')
    put('deckhand', `…dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\x01\x08${fuses}…`)
    put('resources/app.asar', asarOf(asar))
    return findFaults({
      resources: join(folder, 'resources'),
      program: join(folder, 'deckhand'),
      notices: folder,
      isTest,
      repository: repository ?? null,
      electron: '45.3.4',
    })
  }
  function put(file: string, content: string | Buffer) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }

  it('with everything in its place has no faults', () => {
    expect(write()).toEqual([])
  })

  it.each<[string, Parameters<typeof write>[0], string]>([
    ["Electron's demonstration app", { more: ['resources/default_app.asar'] }, "Electron's default_app.asar is in the package"],
    [
      'the chunk of the test hooks',
      { asar: { ...GOOD, 'out/main/chunks/e2e-hooks-x.js': '' } },
      'out/main/chunks/e2e-hooks-x.js is for tests and development',
    ],
    [
      'test hooks under another name',
      { asar: { ...GOOD, 'out/main/main.js': 'globalThis.deckhandTest = 1' } },
      'out/main/main.js contains the hooks of tests',
    ],
    [
      'no licences',
      { asar: { 'out/main/main.js': '', LICENSE: 'MIT', 'package.json': '{}' } },
      'the licences of third parties are missing',
    ],
    [
      'a licence too few',
      { asar: { ...GOOD, 'out/renderer/third-party-licenses.txt': LICENSES.slice(1).join('') } },
      'the licence of better-sqlite3 is missing',
    ],
    ['an option for debuggers', { fuses: '01011100' }, 'the fuse EnableNodeCliInspectArguments is not off'],
    ['an app from a folder', { fuses: '01001000' }, 'the fuse OnlyLoadAppFromAsar is not on'],
    ['an app that nobody checks', { fuses: '01000100' }, 'the fuse EnableEmbeddedAsarIntegrityValidation is not on'],
    ['a way to run any script', { fuses: '11001100' }, 'the fuse RunAsNode is not off'],
    ['rights for files', { fuses: '01001101' }, 'the fuse GrantFileProtocolExtraPrivileges is not off'],
    ['the mark of a test build', { asar: { ...GOOD, 'package.json': '{"testBuild":true}' } }, 'a test build is not for people'],
    [
      'no switched-off option in a test build',
      { isTest: true, asar: { ...GOOD, 'package.json': '{"testBuild":true}' } },
      'the fuse EnableNodeCliInspectArguments is not on',
    ],
  ])('with %s is refused', (_what, contents, fault) => {
    expect(write(contents)).toEqual([fault])
  })

  it('that is a release needs its repository, its key and the declared Electron', () => {
    expect(write({ repository: 'ada/deckhand' })).toEqual([
      'the app does not know where its updates come from',
      'the home page is undefined',
      'app-update.yml is missing',
      'this is not Electron 45.3.4',
    ])
    put('resources/app-update.yml', 'provider: github\n')
    const about = { homepage: 'https://github.com/ada/deckhand', updates: { repository: 'ada/deckhand', key: 'x' } }
    const release = { ...GOOD, 'package.json': JSON.stringify(about) }
    expect(write({ repository: 'ada/deckhand', asar: release, fuses: `${FUSES} Chrome/150.0 Electron/45.3.4 ` })).toEqual([])
  })
})

describe('the parts of a package', () => {
  it('are loaded without the libraries of development', () => {
    mkdirSync(join(folder, 'app.asar.unpacked/node_modules/native'), { recursive: true })
    writeFileSync(join(folder, 'app.asar.unpacked/node_modules/native/index.js'), 'export const native = 1')
    writeFileSync(join(folder, 'app.asar.unpacked/node_modules/native/package.json'), '{"type":"module","exports":"./index.js"}')
    const parts = {
      'out/main/chunks/fits.js': 'import { native } from "native"\nimport "./fits-too.js"\nexport default native',
      'out/main/chunks/fits-too.js': 'export {}',
      'out/main/chunks/optional.js': `throw new Error('Could not resolve "sharp" imported by a library')`,
      'out/main/chunks/window.js': 'import { app } from"electron"\napp.quit()',
      'out/main/runner.js': 'throw new Error("this would start")',
    }
    writeFileSync(join(folder, 'app.asar'), asarOf({ 'package.json': '{"type":"module"}', ...parts }))
    expect(findUnloadable(folder)).toEqual([])
    // Installed here, and in no package.
    const lost = { 'out/main/chunks/lost.js': 'import { z } from "zod"\nexport { z }' }
    writeFileSync(join(folder, 'app.asar'), asarOf({ 'package.json': '{"type":"module"}', ...parts, ...lost }))
    expect(findUnloadable(folder)).toEqual([expect.stringMatching(/^lost\.js cannot be loaded: Cannot find package 'zod'/)])
  })
})

describe('a Debian package', () => {
  const recommends = readRecommends(readFileSync(new URL('./electron-builder.yml', import.meta.url), 'utf8'))

  /** As electron-builder calls fpm. */
  function makeDeb(recommended: string[], entry = 'Exec=/opt/Deckhand/deckhand %U\nMimeType=x-scheme-handler/deckhand;\n'): string {
    const file = join(folder, 'deckhand.deb')
    writeFileSync(join(folder, 'deckhand.desktop'), entry)
    writeFileSync(join(folder, 'app.txt'), 'app')
    execFileSync(process.execPath, [
      new URL('./fpm-deb.mjs', import.meta.url).pathname,
      '-s',
      'dir',
      '--force',
      '-t',
      'deb',
      '--name',
      'deckhand',
      '--version',
      '1.0.0',
      '--architecture',
      'amd64',
      '--maintainer',
      'The Deckhand authors <a@b.example>',
      '--url',
      'https://deckhand.invalid',
      '--deb-compression',
      'gz',
      '--category',
      'utils',
      '--description',
      'Runs agents',
      '--package',
      file,
      '-d',
      'libnss3',
      '-d',
      'libgbm1',
      ...recommended.flatMap((one) => ['--deb-recommends', one]),
      `${join(folder, 'app.txt')}=/opt/Deckhand/app.txt`,
      `${join(folder, 'deckhand.desktop')}=/usr/share/applications/deckhand.desktop`,
    ])
    return file
  }

  it('keeps every recommendation', () => {
    expect(recommends).toContain('gnome-keyring | kwalletmanager')
    expect(findDebFaults(makeDeb(recommends), recommends)).toEqual([])
    expect(execFileSync('dpkg-deb', ['--field', join(folder, 'deckhand.deb'), 'Depends'], { encoding: 'utf8' })).toBe('libnss3, libgbm1\n')
  })

  it('that opens no links, or opens them as arguments, is refused', () => {
    expect(findDebFaults(makeDeb(recommends, 'Exec=/opt/Deckhand/deckhand --open=%u\n'), recommends)).toEqual([
      'the package does not register deckhand:// links',
      'the package does not pass links on as one argument',
    ])
    expect(findDebFaults(makeDeb(recommends), recommends, 'ada/deckhand')).toEqual(['the home page is https://deckhand.invalid'])
  })

  it('without one of them is refused', () => {
    expect(findDebFaults(makeDeb(recommends.slice(1)), recommends)).toEqual([`the package does not recommend ${recommends[0]}`])
  })
})

function asarOf(files: Record<string, string>): Buffer {
  const index: Record<string, unknown> = {}
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const parts = path.split('/')
    let at = index
    for (const part of parts.slice(0, -1)) at = ((at[part] ??= { files: {} }) as { files: Record<string, unknown> }).files
    at[parts.at(-1)!] = { size: Buffer.byteLength(text), offset: String(offset) }
    offset += Buffer.byteLength(text)
  }
  const json = Buffer.from(JSON.stringify({ files: index }))
  const padded = Math.ceil(json.length / 4) * 4
  const head = Buffer.alloc(16)
  head.writeUInt32LE(4, 0)
  head.writeUInt32LE(padded + 8, 4)
  head.writeUInt32LE(padded + 4, 8)
  head.writeUInt32LE(json.length, 12)
  return Buffer.concat([head, json, Buffer.alloc(padded - json.length), Buffer.from(Object.values(files).join(''))])
}
