import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameFolders, parsePath, PathRefused, showName, showPlace, unescapeName, type NamedFolder } from './folder-paths.ts'

const folders: NamedFolder[] = [
  { name: 'Documents', path: '/home/ada/Documents', closed: [] },
  { name: 'work', path: '/srv/work', closed: [] },
  { name: 'inner', path: '/srv/work/deep/inner', closed: [] },
]
const parse = (text: string, list = folders) => {
  const place = parsePath(text, list, 'linux')
  return place === null ? null : showPlace(place)
}

describe('folder names', () => {
  it.each<[string[], string[], NodeJS.Platform]>([
    [['/home/ada/Documents', '/srv/work/'], ['Documents', 'work'], 'linux'],
    [['/a/notes', '/b/notes', '/c/notes'], ['notes', 'notes (2)', 'notes (3)'], 'linux'],
    [['/a/notes', '/b/notes (2)', '/c/notes'], ['notes', 'notes (2)', 'notes (3)'], 'linux'],
    [['/'], ['root'], 'linux'],
    [['C:\\Users\\Ada\\Notes', 'D:\\'], ['Notes', 'D'], 'win32'],
  ])('%j get the names %j', (paths, names, platform) => {
    expect(nameFolders(paths, { platform }).map((f) => f.name)).toEqual(names)
  })
})

describe('accepted paths', () => {
  it.each([
    ['', null],
    ['.', null],
    ['./', null],
    ['/', null],
    ['Documents', 'Documents'],
    ['Documents/', 'Documents'],
    ['./Documents//a/./b.md', 'Documents/a/b.md'],
    ['Documents/a/../b.md', 'Documents/b.md'],
    ['/home/ada/Documents', 'Documents'],
    ['/home/ada/Documents/x/y', 'Documents/x/y'],
    ['/srv/work/a', 'work/a'],
    ['/srv/work/deep/inner/a', 'inner/a'],
    ['/srv/other/../work/a', 'work/a'],
    ['Documents/back\\slash', 'Documents/back\\slash'],
    ['Documents/a\\u{a}b', 'Documents/a\\u{a}b'],
  ])('%j means %j', (text, place) => expect(parse(text)).toBe(place))

  it('accepts a folder name in another Unicode form', () => {
    expect(parse('Cafe\u0301/x', [{ name: 'Caf\u00e9', path: '/srv/c', closed: [] }])).toBe('Caf\u00e9/x')
  })

  it('does not require the folder name if there is only one folder', () => {
    const one = folders.slice(0, 1)
    expect(parse('notes.md', one)).toBe('Documents/notes.md')
    expect(parse('plans/may.md', one)).toBe('Documents/plans/may.md')
    expect(parse('Documents/notes.md', one)).toBe('Documents/notes.md')
    expect(() => parse('plans/../../secret', one)).toThrow(/leads out/)
  })

  it('accepts both slashes on Windows', () => {
    const place = parsePath('Notes\\a/b.md', [{ name: 'Notes', path: 'C:\\Notes', closed: [] }], 'win32')
    expect(place!.parts).toEqual(['a', 'b.md'])
    expect(parsePath('c:\\notes\\a.md', [{ name: 'Notes', path: 'C:\\Notes', closed: [] }], 'win32')!.parts).toEqual(['a.md'])
  })
})

describe('refused paths', () => {
  it.each([
    ['..', /leads out of the agent's folders/],
    ['Documents/..', /leads out/],
    ['Documents/../work/x', /leads out/],
    ['Documents/a/../../..', /leads out/],
    ['/etc/passwd', /'\/etc\/passwd' is outside of the agent's folders\. The folders are: Documents \(\/home\/ada\/Documents\), work/],
    ['/home/ada', /is outside/],
    ['/home/ada/Documents2/x', /is outside/],
    ['/home/ada/Documents/../secret', /is outside/],
    ['notes.md', /does not begin with the name of a folder/],
    ['~/Documents/x', /does not begin with the name of a folder/],
    ['documents/x', /does not begin with the name of a folder/],
    ['Documents\0/x', /NUL/],
    ['Documents/'.repeat(1000), /at most 4096 characters/],
    ['\\u{2e}\\u{2e}/x', /leads out/],
    ['Documents/\\u{2e}./\\u{2f}etc', /leads out/],
  ])('%j', (text, sentence) => expect(() => parse(text)).toThrow(sentence))

  it('says that the agent has no folders', () => {
    expect(() => parse('x', [])).toThrow('This agent has no folders. A person can give it some in its settings.')
  })

  it.each(['a.txt:hidden', 'NUL', 'com1.txt', 'x.', 'x ', 'a|b', 'C:'])('refuses %j on Windows', (name) => {
    expect(() => parsePath(`Notes\\${name}`, [{ name: 'Notes', path: 'C:\\Notes', closed: [] }], 'win32')).toThrow(PathRefused)
  })
})

describe('escaped names', () => {
  it.each([
    ['plain name.md', 'plain name.md'],
    ['two\nlines', 'two\\u{a}lines'],
    ['tab\there', 'tab\\u{9}here'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['zero\u200bwidth', 'zero\\u{200b}width'],
    ['\ud800half', '\\u{d800}half'],
    ['a\\b', 'a\\b'],
    ['a\\u{41}', 'a\\u{5c}u{41}'],
    ['Übung 日本 😀', 'Übung 日本 😀'],
  ])('%j is shown as %j', (name, shown) => expect(showName(name)).toBe(shown))

  it('unescape to the original name', () => {
    // Half surrogates too, and now and then the very characters that the escapes are made of.
    const char = fc.oneof(fc.integer({ min: 1, max: 0x10_ffff }), fc.constantFrom(...[...'\\u{}a0'].map((c) => c.codePointAt(0)!)))
    fc.assert(
      fc.property(fc.array(char), (codes) => {
        const name = String.fromCodePoint(...codes)
        return unescapeName(showName(name)) === name
      }),
      { numRuns: 1_000 },
    )
  })
})

it('no random path leads out of the folders', () => {
  const part = fc.oneof(fc.constantFrom('..', '.', '', 'Documents', 'work', 'a', '\\u{2e}.', '/', '~', 'C:', '..\\', '%2e%2e'), fc.string())
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, absolute) => {
      let place
      try {
        place = parsePath((absolute ? '/' : '') + parts.join('/'), folders, 'linux')
      } catch (thrown) {
        return thrown instanceof PathRefused
      }
      return place === null || place.parts.every((p) => p !== '' && p !== '.' && p !== '..' && !p.includes('/') && !p.includes('\0'))
    }),
    { numRuns: 2_000 },
  )
})
