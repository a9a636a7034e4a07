import { describe, expect, it } from 'vitest'
import { seatbeltProfile, type SeatbeltPlan } from './seatbelt-profile.ts'

const plan: SeatbeltPlan = {
  writable: ['/Users/ada/Project'],
  readable: [],
  closed: [],
  frozen: [],
  temporary: '/private/var/folders/x/T/sandbox',
  proxy: null,
}
const linesFor = (change: Partial<SeatbeltPlan> = {}) => seatbeltProfile({ ...plan, ...change }).split('\n')

/** Checks the lines of the profile. Only macOS can run it. */
describe('the profile for Seatbelt', () => {
  it('denies by default', () => expect(linesFor().slice(0, 2)).toEqual(['(version 1)', '(deny default)']))

  it('makes only the folder and the private folder writable', () =>
    expect(linesFor().filter((line) => line.startsWith('(allow file-write*'))).toEqual([
      '(allow file-write* (subpath "/Users/ada/Project") (subpath "/private/var/folders/x/T/sandbox"))',
    ]))

  it.each(['/Users', '/Users/ada', '/Library', '/private/etc', '/private/var', '/private/tmp', '/Volumes', '/opt'])(
    'does not open %s to reading',
    (path) => {
      for (const line of linesFor()) if (line.startsWith('(allow file-read*')) expect(line).not.toContain(`(subpath "${path}")`)
    },
  )

  it.each(['/usr/local', '/opt/homebrew', '/opt/local'])('opens the programs in %s, and no data or settings of services', (prefix) => {
    const opened = linesFor().filter((line) => line.startsWith('(allow file-read* (subpath')).join() // prettier-ignore
    expect(opened).toContain(`(subpath "${prefix}/bin")`)
    for (const closed of ['', '/var', '/var/postgresql@16', '/etc', '/etc/my.cnf'])
      expect(opened).not.toContain(`(subpath "${prefix}${closed}")`)
  })

  it('allows only metadata of the folders above', () =>
    expect(linesFor().find((line) => line.startsWith('(allow file-read-metadata'))).toContain('(literal "/Users") (literal "/Users/ada")'))

  it.each<[string, Partial<SeatbeltPlan>, string]>([
    ['closed folders', { closed: ['/Users/ada/Project/data'] }, '(deny file-read* file-write* (subpath "/Users/ada/Project/data"))'],
    ['frozen places', { frozen: ['/Users/ada/Project/.git/hooks'] }, '(deny file-write* (subpath "/Users/ada/Project/.git/hooks"))'],
  ])('denies %s after allowing the folder around it', (_, change, line) => {
    const lines = linesFor(change)
    expect(lines.indexOf(line)).toBeGreaterThan(lines.findIndex((one) => one.startsWith('(allow file-write* (subpath')))
    expect(lines.find((one) => one.startsWith('(deny file-write-unlink'))).toContain('(literal "/Users/ada/Project")')
  })

  it('reaches the proxy only, and nothing unless requested', () => {
    expect(linesFor().join()).not.toMatch(/network|trustd/)
    for (const anyHost of [true, false]) {
      const lines = linesFor({ proxy: { port: 49_321, anyHost } })
      expect(lines.filter((line) => line.includes('network'))).toEqual(['(allow network-outbound (remote ip "localhost:49321"))'])
      expect(lines.join().includes('trustd')).toBe(anyHost)
      expect(lines.join()).not.toMatch(/mDNSResponder|resolv/)
    }
  })

  it.each([
    ['/Users/ada/a") (allow default) ("', '(subpath "/Users/ada/a\\") (allow default) (\\"")'],
    ['/Users/ada/back\\slash', '(subpath "/Users/ada/back\\\\slash")'],
  ])('quotes a folder named %j', (folder, words) => expect(linesFor({ writable: [folder] }).join('\n')).toContain(words))

  it.each(['a\nb', 'a\0b'])('refuses a folder named %j', (name) =>
    expect(() => linesFor({ writable: [`/x/${name}`] })).toThrow(/line breaks/),
  )
})
