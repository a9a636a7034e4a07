import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DesktopCommand } from '../contract/desktop-api.ts'
import { silentLog } from '../log/log.ts'
import { linkAmong, parseDeepLink } from './deep-link.ts'
import { speechOf } from './language.ts'
import { createLinkFollower } from './open-deep-link.ts'

const JOB = '0b9f9c3e-4a52-4c1f-9a52-0c9d7a1b2c3d'

describe('a link from outside', () => {
  it.each([
    ['deckhand://open', '/'],
    ['deckhand://open/', '/'],
    ['deckhand://open/activity', '/activity'],
    ['deckhand://open/settings', '/settings'],
    [`deckhand://open/job/${JOB}`, `/jobs/${JOB}`],
  ])('may show a screen: %s', (link, path) => expect(parseDeepLink(link)).toEqual({ kind: 'open', path }))

  it.each([
    ['deckhand://task?text=Sum%20up%20my%20notes', 'Sum up my notes'],
    ['deckhand://task/?text=a%0D%0Ab%E2%80%AE%00c', 'a\nbc'],
    ['deckhand://task?text=%3Cscript%3Ealert(1)%3C/script%3E', '<script>alert(1)</script>'],
  ])('may propose a task, as text: %s', (link, text) => expect(parseDeepLink(link)).toEqual({ kind: 'task', text }))

  it.each([
    'deckhand:',
    'deckhand:open',
    'deckhand:/open/chat',
    'deckhand:///chat',
    'DECKHAND://open/chat',
    'deckhand://OPEN/chat',
    'deckhand://user@open/chat',
    'deckhand://user:pass@task?text=x',
    'deckhand://open:80/chat',
    'deckhand://open/chat#x',
    'deckhand://open/chat?agent=1',
    'deckhand://open//chat',
    'deckhand://open/chat/../settings',
    'deckhand://open/%63hat',
    'deckhand://open/job/1',
    `deckhand://open/job/${JOB}/cancel`,
    'deckhand://open/approve',
    'deckhand://run?text=x',
    'deckhand://approve?id=1',
    'deckhand://task',
    'deckhand://task?text=',
    'deckhand://task?text=%20%00',
    'deckhand://task?text=a&text=b',
    'deckhand://task?text=a&agent=b',
    'deckhand://task?text=a&run=1',
    'deckhand://task/now?text=a',
    `deckhand://task?text=${'a'.repeat(4_001)}`,
    `deckhand://task?text=${'%00'.repeat(20_000)}`,
    'deckhand://evil.example/open/chat',
    'https://open/chat',
    'javascript:alert(1)',
    ' deckhand://open/chat',
    '',
  ])('is refused: %j', (link) => {
    const parsed = parseDeepLink(link)
    // A path with dots is what it leads to, and nothing else.
    expect(parsed).toEqual(link.includes('..') ? { kind: 'open', path: '/settings' } : null)
  })

  it('never becomes anything but a known screen or a text, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('open/', 'task?text=', 'open/job/', '', '@', 'task?'), (rest, start) => {
        const link = parseDeepLink(`deckhand://${start}${rest}`)
        if (link?.kind === 'open') expect(link.path).toMatch(/^\/([a-z]*|jobs\/[\da-f-]{36})$/)
        else if (link) expect(link.text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}]/u)
      }),
    )
  })

  it('is the only argument that counts, and two are none', () => {
    const link = 'deckhand://open/chat'
    expect(linkAmong(['/opt/Deckhand/deckhand', '--allow-file-access', link, '--inspect'])).toBe(link)
    expect(linkAmong(['deckhand', '--inspect=9229', '--remote-debugging-port=1'])).toBeNull()
    expect(linkAmong(['deckhand', link, 'deckhand://task?text=x'])).toBeNull()
  })
})

describe('following a link', () => {
  function open(confirm: () => Promise<boolean>) {
    const done: (DesktopCommand | 'shown')[] = []
    const questions: string[] = []
    const follow = createLinkFollower({
      abilities: () => ({
        confirm: ({ message, detail }) => {
          questions.push(`${message}\n${detail}`)
          return confirm()
        },
      }),
      speech: () => speechOf('en'),
      window: { show: () => void done.push('shown'), command: (command) => void done.push(command) },
      log: silentLog,
    })
    return { follow, done, questions }
  }

  it('fills in a task only after the person read it and agreed', async () => {
    const yes = open(() => Promise.resolve(true))
    await yes.follow('deckhand://task?text=Delete%20my%20mail')
    expect(yes.questions).toEqual([expect.stringMatching(/comes from outside Deckhand[^]*Delete my mail/)])
    expect(yes.done).toEqual([{ command: 'task', text: 'Delete my mail' }])
    const no = open(() => Promise.resolve(false))
    await no.follow('deckhand://task?text=Delete%20my%20mail')
    expect(no.done).toEqual([])
  })

  it('asks one question at a time', async () => {
    const answer = Promise.withResolvers<boolean>()
    const { follow, done, questions } = open(() => answer.promise)
    const all = Array.from({ length: 100 }, (_, i) => follow(`deckhand://task?text=${i}`))
    answer.resolve(true)
    await Promise.all(all)
    expect(questions).toHaveLength(1)
    expect(done).toEqual([{ command: 'task', text: '0' }])
  })

  it('shows a screen without a question, and only the window for a bad link', async () => {
    const { follow, done, questions } = open(() => Promise.resolve(true))
    await follow('deckhand://open/activity')
    await follow('deckhand://approve?id=1')
    expect(done).toEqual([{ command: 'go', path: '/activity' }, 'shown'])
    expect(questions).toEqual([])
  })
})
