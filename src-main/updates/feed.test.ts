import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { installKind, packagedFeed, testFeed } from './feed.ts'

const KEY = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE='

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-feed-'))
  onTestFinished(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true })
  })
})

function packaged(updates: unknown) {
  const file = join(folder, 'package.json')
  writeFileSync(file, JSON.stringify({ name: 'deckhand', updates }))
  return packagedFeed(file)
}

describe('the place of updates of a packaged app', () => {
  it('is the releases of one repository, over https', () => {
    const { allows, pageOf, provider } = packaged({ repository: 'ada/deckhand', key: KEY })!
    expect(provider).toEqual({ provider: 'github', owner: 'ada', repo: 'deckhand' })
    expect(pageOf('1.3.0')).toBe('https://github.com/ada/deckhand/releases/tag/v1.3.0')
    const allowed = [
      'https://github.com/ada/deckhand/releases.atom',
      'https://github.com/ada/deckhand/releases/download/v1.3.0/latest.yml',
      'https://release-assets.githubusercontent.com/x?y=z',
    ]
    expect(allowed.map((url) => allows(new URL(url)))).toEqual([true, true, true])
  })

  it.each([
    'http://github.com/ada/deckhand/releases.atom',
    'https://github.com:8443/ada/deckhand/releases.atom',
    'https://github.com/eve/deckhand/releases.atom',
    'https://github.com/ada/deckhand/releases/../../../eve/x/releases',
    'https://github.com.evil.example/ada/deckhand/releases',
    'https://raw.githubusercontent.com/ada/deckhand/main/x',
    'http://127.0.0.1/latest.yml',
    'file:///etc/passwd',
  ])('is never %s', (url) => expect(packaged({ repository: 'ada/deckhand', key: KEY })!.allows(new URL(url))).toBe(false))

  it.each([
    undefined,
    {},
    { repository: 'ada/deckhand' },
    { repository: 'ada/deckhand/x', key: KEY },
    { repository: 'ada/deckhand', key: 'none' },
  ])('is nowhere if the build names none: %j', (updates) => expect(packaged(updates)).toBeNull())
})

it('in a window test is a server on this machine only', () => {
  expect(testFeed(undefined)).toBeNull()
  const { allows } = testFeed(JSON.stringify({ url: 'http://127.0.0.1:4000/', key: KEY }))!
  expect([allows(new URL('http://127.0.0.1:4000/latest.yml')), allows(new URL('http://127.0.0.1:4001/latest.yml'))]).toEqual([true, false])
  expect(() => testFeed(JSON.stringify({ url: 'https://evil.example/', key: KEY }))).toThrow()
})

it('knows how it was installed', () => {
  expect(installKind('darwin', folder, null)).toBe('app')
  expect(installKind('win32', folder, null)).toBe('app')
  expect(installKind('linux', folder, null)).toBe('archive')
  writeFileSync(join(folder, 'package-type'), 'rpm\n')
  expect(installKind('linux', folder, null)).toBe('rpm')
  const appImage = join(folder, 'Deckhand.AppImage')
  expect(installKind('linux', folder, appImage)).toBe('app_image')
  expect(installKind('linux', folder, 'Deckhand.AppImage')).toBe('app_image')
  writeFileSync(appImage, '')
  expect(installKind('linux', folder, appImage)).toBe('app')
})
