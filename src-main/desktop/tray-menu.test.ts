import { describe, expect, it } from 'vitest'
import type { WaitingApproval, WebhookReach } from '../../src-runner/contract/port.ts'
import type { Message } from '../../src-runner/contract/messages.ts'
import { speechOf } from './language.ts'
import { summary, trayItems } from './tray-menu.ts'

const READY = { state: 'ready', runnerUrl: 'http://127.0.0.1:3001' } as const
const NOW = 10_000_000
const job = (n: number, changes: object = {}) => ({
  jobId: `019a0000-0000-7000-8000-00000000000${n}`,
  title: `Job ${n}`,
  agentName: 'Ann',
  startedAt: NOW - 60_000 * n,
  costUsd: 0.02,
  priced: true,
  ...changes,
})
const quote = (words: string): Message => ({ code: 'quoted', params: { words } })
const NO_REACH: WebhookReach = { url: null, check: 'unknown', tunnel: null }
const [ENGLISH, GERMAN] = [speechOf('en'), speechOf('de')]
const IDLE = {
  jobs: [],
  pending: 0,
  approvals: 0,
  waiting: [],
  pauseAll: false,
  webhooks: NO_REACH,
  runner: READY,
  now: NOW,
  speech: ENGLISH,
}
const labels = (items: ReturnType<typeof trayItems>) => items.map((item) => (item.kind === 'line' ? '—' : item.label))

describe('the tray', () => {
  it('offers Open and Quit when nothing runs', () => {
    expect(labels(trayItems(IDLE))).toEqual([
      'Open Deckhand',
      '—',
      'No jobs running',
      '—',
      'Pause all agents',
      'Open in browser',
      'Quit Deckhand',
    ])
  })

  it('shows waiting jobs while none runs', () => {
    expect(labels(trayItems({ ...IDLE, pending: 1, pauseAll: true }))).toContain('No jobs running, 1 queued')
  })

  it('shows agent, time and cost of each running job, with Stop', () => {
    const items = trayItems({
      ...IDLE,
      jobs: [
        job(1),
        job(2, { costUsd: 0.0004, startedAt: NOW - 3_900_000 }),
        job(3, { costUsd: 0, priced: false }),
        job(4, { priced: false }),
      ],
      pending: 3,
    })
    expect(labels(items)).toEqual([
      'Open Deckhand',
      '—',
      '4 jobs running, 3 queued',
      'Job 1 · Ann · 1 min · $0.02',
      'Job 2 · Ann · 1 h 5 min · $0.0004',
      'Job 3 · Ann · 3 min · unpriced',
      'Job 4 · Ann · 4 min · $0.02 + unpriced',
      '—',
      'Pause all agents',
      'Open in browser',
      'Quit Deckhand',
    ])
    expect(items[3]).toMatchObject({
      items: [
        { label: 'Show', action: { do: 'open', path: `/jobs/${job(1).jobId}` } },
        { label: 'Stop', action: { do: 'stop', jobId: job(1).jobId } },
      ],
    })
  })

  it('uses the language of the page', () => {
    const items = trayItems({ ...IDLE, jobs: [job(1, { startedAt: NOW - 3_900_000 })], pending: 1, pauseAll: true, speech: GERMAN })
    expect(labels(items)).toEqual([
      'Deckhand öffnen',
      '—',
      'Alle Agenten sind pausiert',
      '1 Auftrag läuft, 1 in der Warteschlange',
      'Job 1 · Ann · 1 Std. 5 Min. · 0,02\u00A0$',
      '—',
      'Alle Agenten fortsetzen …',
      'Im Browser öffnen',

      'Deckhand beenden',
    ])
  })

  it('escapes and shortens titles', () => {
    const [, , , item] = trayItems({
      ...IDLE,
      jobs: [job(1, { title: `Salt & pepper\n\u202Eevil ${'x'.repeat(200)}`, startedAt: NOW + 5_000 })],
    })
    expect(item).toMatchObject({ label: expect.stringMatching(/^Salt && pepper evil x+… · Ann · under a minute · \$0\.02$/) })
  })

  it('stays short with many jobs', () => {
    const jobs = Array.from({ length: 32 }, (_, i) => job(i % 10))
    expect(labels(trayItems({ ...IDLE, jobs }))).toHaveLength(2 + 1 + 12 + 1 + 4)
  })

  it('counts waiting approvals and opens them', () => {
    const open = (approvals: number) => trayItems({ ...IDLE, approvals })[1]
    expect(open(1)).toEqual({ kind: 'action', label: '1 approval waiting…', action: { do: 'open', path: '/approvals' } })
    expect(open(3)).toMatchObject({ label: '3 approvals waiting…' })
  })

  describe('answers', () => {
    const ask = (changes: Partial<WaitingApproval>): WaitingApproval => ({
      approvalId: '019a0000-0000-7000-8000-0000000000aa',
      kind: 'tool',
      agentName: 'Ann',
      title: quote('Delete notes & drafts.md (2 KB)'),
      isWhole: true,
      choices: [],
      ...changes,
    })
    const group = (changes: Partial<WaitingApproval> = {}) => {
      const found = trayItems({ ...IDLE, approvals: 1, waiting: [ask(changes)] })[2]
      if (found?.kind !== 'group') throw new Error('there is no group')
      return { label: found.label, labels: labels(found.items), actions: found.items.map((item) => item.kind === 'action' && item.action) }
    }
    const answer = (decision: string, text: string | null = null) => ({
      do: 'answer',
      approvalId: '019a0000-0000-7000-8000-0000000000aa',
      decision,
      answer: text,
    })
    const open = { do: 'open', path: '/approvals?id=019a0000-0000-7000-8000-0000000000aa' }

    it('approve a call that is shown completely', () => {
      expect(group()).toEqual({
        label: 'Ann: Delete notes && drafts.md (2 KB)',
        labels: ['Approve once', 'Reject', 'Open…'],
        actions: [answer('approve'), answer('reject'), open],
      })
    })

    it('offer no Approve for a call that is not shown completely', () => {
      expect(group({ isWhole: false }).labels).toEqual(['Reject', 'Open…'])
      expect(group({ kind: 'question', isWhole: false, choices: ['Yes'] }).labels).toEqual(['Open…'])
      expect(group({ kind: 'budget', isWhole: false }).labels).toEqual(['Stop', 'Open…'])
      expect(group({ kind: 'unknown_outcome' }).labels).toEqual(['Open…'])
    })

    it('offer the exact choices of a question, or open the page if it has none', () => {
      const { labels, actions } = group({ kind: 'question', title: quote('Which?'), choices: ['Salt & pepper', 'None'] })
      expect(labels).toEqual(['Answer “Salt && pepper”', 'Answer “None”', 'Open…'])
      expect(actions[0]).toEqual(answer('approve', 'Salt & pepper'))
      expect(group({ kind: 'question' }).labels).toEqual(['Open…'])
    })

    it('approve a call in the language of the page if it fits there', () => {
      const asks = (path: string) => {
        const waiting = [ask({ title: { code: 'effect_delete', params: { path, bytes: 2000, lost: 'no' } } })]
        const found = trayItems({ ...IDLE, approvals: 1, waiting, speech: GERMAN })[2]
        if (found?.kind !== 'group') throw new Error('there is no group')
        return { label: found.label, labels: labels(found.items) }
      }
      expect(asks('notes.md')).toEqual({
        label: 'Ann: Löschen: notes.md (2 kB)',
        labels: ['Einmal freigeben', 'Ablehnen', 'Öffnen …'],
      })
      const long = asks(`${'x'.repeat(60)}.md`)
      expect(long.label).toMatch(/^Ann: Löschen: x+…$/)
      expect(long.labels).toEqual(['Ablehnen', 'Öffnen …'])
    })

    it('extend a limit in the language of the page', () => {
      const waiting = [ask({ kind: 'budget', title: { code: 'asked_money_job', params: { moreUsd: 1, limitUsd: 2 } } })]
      expect(labels(trayItems({ ...IDLE, waiting, speech: GERMAN }))[1]).toBe(
        'Ann: 1,00 $ zum Ausgabenlimit des Auftrags von 2,00 $ hinzufügen',
      )
    })

    it('extend a limit or stop the job', () => {
      const { labels, actions } = group({ kind: 'budget' })
      expect(labels).toEqual(['Raise limit', 'Stop', 'Open…'])
      expect(actions.slice(0, 2)).toEqual([answer('approve'), answer('reject')])
    })
  })

  it('pauses all agents, shows that, and resumes them', () => {
    const pauseAllOf = (items: ReturnType<typeof trayItems>) =>
      items.find((item) => item.kind === 'action' && item.action.do === 'pauseAll')
    expect(pauseAllOf(trayItems(IDLE))).toEqual({ kind: 'action', label: 'Pause all agents', action: { do: 'pauseAll', on: true } })
    const pulled = trayItems({ ...IDLE, pauseAll: true })
    expect(pauseAllOf(pulled)).toEqual({ kind: 'action', label: 'Resume all agents…', action: { do: 'pauseAll', on: false } })
    expect(labels(pulled)).toContain('All agents are paused')
    expect(pauseAllOf(trayItems({ ...IDLE, runner: { state: 'stopped' } }))).toBeUndefined()
  })

  describe('webhooks', () => {
    const tunnel = (state: 'starting' | 'running' | 'stopped' | 'failed') =>
      ({ program: 'cloudflared', state, url: null, problem: null, startedAt: null }) as const
    const shown = (reach: Partial<WebhookReach>) => labels(trayItems({ ...IDLE, webhooks: { ...NO_REACH, ...reach } })).slice(4, -4)
    const url = 'https://four-words.trycloudflare.com'

    it.each<[Partial<WebhookReach>, string[]]>([
      [{ url: 'https://hooks.example.com/a&b', check: 'reachable' }, ['Webhooks reachable at hooks.example.com/a&&b']],
      [{ url, check: 'checking' }, ['Checking the public address…']],
      [{ url, check: 'exposed' }, ['Warning: Deckhand is exposed to the internet']],
      [{ url, check: 'unreachable' }, ['Webhooks unreachable from the internet']],
      [
        { url, check: 'reachable', tunnel: tunnel('running') },
        ['Webhooks reachable at four-words.trycloudflare.com', 'Stop tunnel (cloudflared)'],
      ],
      [{ tunnel: tunnel('starting') }, ['Starting the tunnel…', 'Stop tunnel (cloudflared)']],
      [{ check: 'unreachable', tunnel: tunnel('failed') }, ['Tunnel down: webhooks are unreachable', 'Start tunnel (cloudflared)']],
      [{ tunnel: tunnel('failed') }, ['Tunnel down', 'Start tunnel (cloudflared)']],
      [{ tunnel: tunnel('stopped') }, ['Start tunnel (cloudflared)']],
    ])('are shown as reachable or not: %j', (reach, expected) => expect(shown(reach)).toEqual(expected))

    it('are not shown before they are set up', () => expect(shown({})).toEqual([]))

    it('start and stop a tunnel', () => {
      const actionOf = (state: 'running' | 'stopped') =>
        trayItems({ ...IDLE, webhooks: { ...NO_REACH, tunnel: tunnel(state) } }).find(
          (item) => item.kind === 'action' && item.action.do === 'tunnel',
        )
      expect(actionOf('running')).toMatchObject({ action: { do: 'tunnel', program: 'cloudflared', on: false } })
      expect(actionOf('stopped')).toMatchObject({ action: { do: 'tunnel', program: 'cloudflared', on: true } })
    })
  })

  it.each([
    [{ state: 'starting' }, 'Starting the runner…'],
    [{ state: 'restarting', attempt: 1, reason: { code: 'runner_not_started', params: {} } }, 'Starting the runner…'],
    [{ state: 'failed', code: 'crash_loop', message: { code: 'runner_not_started', params: {} } }, 'The runner is not running'],
    [{ state: 'port_taken', port: 1, suggestedPort: 2 }, 'The runner is not running'],
  ] as const)('says how the runner is: %o', (runner, expected) => {
    expect(summary(0, 0, runner, ENGLISH.t)).toBe(expected)
  })
})
