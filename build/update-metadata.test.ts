import { generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { describeRelease } from './update-metadata.mjs'

const { publicKey, privateKey: key } = generateKeyPairSync('ed25519')
const date = '2026-11-23T00:00:00.000Z'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

it('describes the installers of all systems, and signs each description', () => {
  const installers = [
    'win-x64.exe',
    'win-arm64.exe',
    'mac-x64.dmg',
    'mac-arm64.zip',
    'linux-x86_64.AppImage',
    'linux-amd64.deb',
    'linux-arm64.deb',
  ]
  for (const name of installers) writeFileSync(join(folder, `Deckhand-1.3.0-${name}`), name)
  writeFileSync(join(folder, 'builder-debug.yml'), 'x')
  const written = describeRelease({ folder, version: '1.3.0', notes: 'Faster.', key, date })
  const names = ['latest.yml', 'latest-mac.yml', 'latest-linux.yml', 'latest-linux-arm64.yml']
  expect([...written.keys()]).toEqual(names.flatMap((name) => [name, `${name}.sig`]))
  const urls = names.map((name) =>
    (JSON.parse(String(written.get(name))) as { files: { url: string }[] }).files.map(({ url }) => url.slice(15)),
  )
  expect(urls).toEqual([
    ['win-arm64.exe', 'win-x64.exe'],
    ['mac-arm64.zip', 'mac-x64.dmg'],
    ['linux-amd64.deb', 'linux-x86_64.AppImage'],
    ['linux-arm64.deb'],
  ])
  for (const name of names)
    expect(verify(null, written.get(name), publicKey, Buffer.from(String(written.get(`${name}.sig`)), 'base64'))).toBe(true)
})

it('keeps betas apart', () => {
  writeFileSync(join(folder, 'Deckhand-1.3.0-beta.1-win-x64.exe'), 'x')
  expect([...describeRelease({ folder, version: '1.3.0-beta.1', notes: '', key, date }).keys()]).toEqual(['beta.yml', 'beta.yml.sig'])
})

it('refuses a folder without installers, and one with those of another version', () => {
  expect(() => describeRelease({ folder, version: '1.3.0', notes: '', key, date })).toThrow('no installers')
  writeFileSync(join(folder, 'Deckhand-1.2.0-win-x64.exe'), 'x')
  expect(() => describeRelease({ folder, version: '1.3.0', notes: '', key, date })).toThrow(
    'not of version 1.3.0: Deckhand-1.2.0-win-x64.exe',
  )
})
