import { describe, expect, it } from 'vitest'
import { NoticeKind, type NoticeAbout } from '../../src-runner/contract/notifications.ts'
import type { Notice } from '../../src-runner/contract/port.ts'
import { noticeText } from './notice-text.ts'
import { speechOf } from './speech.ts'

const [ENGLISH, GERMAN] = [speechOf('en', []), speechOf('de', [])]
const sent = (about: NoticeAbout | undefined, changes: Partial<Notice> = {}): Notice => ({
  ...{ kind: 'job_failed', title: 'As it was sent', body: 'In the words of the runner.', path: '/' },
  ...(about === undefined ? {} : { about }),
  ...changes,
})

describe('a notification', () => {
  it('says why in the language of the page, under the name of the job', () => {
    const notice = sent({ code: 'job_failed' }, { title: 'Zaun streichen', bodySaid: { code: 'job_agent_gone', facts: {} } })
    expect(noticeText(notice, GERMAN)).toEqual({ title: 'Zaun streichen', body: 'Der Agent dieses Auftrags wurde gelöscht.' })
  })

  it('says what a call would do', () => {
    const effect = { code: 'create', path: 'plan.md', bytes: 120 } as const
    const about = { code: 'approval', kind: 'tool', agentName: 'Dora', asked: { code: 'call', effect } } as const
    expect(noticeText(sent(about), GERMAN)).toEqual({ title: 'Dora braucht deine Freigabe', body: 'Anlegen: plan.md (120 Byte)' })
    expect(noticeText(sent(about), ENGLISH).title).toBe('Dora needs your approval')
  })

  it('leaves a question in the words of whoever asks', () => {
    const about = { code: 'approval', kind: 'question', agentName: 'Dora' } as const
    expect(noticeText(sent(about, { body: 'Which\n one?' }), GERMAN)).toEqual({ title: 'Dora fragt', body: 'Which one?' })
  })

  it.each<[NoticeAbout, string, string | RegExp]>([
    [{ code: 'budget_exhausted', schedule: 'Morgens' }, '„Morgens“ hat sein Budget verbraucht', 'Morgen geht es von selbst weiter.'],
    [{ code: 'delivery_impossible', agentName: 'Dora' }, 'Eine Nachricht von Dora war nicht zustellbar', /runner/],
    [{ code: 'channel_logged_out', agentName: 'Dora', service: 'telegram' }, 'Dora ist von Telegram abgemeldet', /runner/],
    [
      { code: 'channel_request', agentName: 'Dora', service: 'telegram', person: 'Eva' },
      'Jemand möchte mit Dora sprechen',
      'Eva hat auf Telegram geschrieben und wartet auf dein Wort.',
    ],
    [{ code: 'public_address_unreachable', exposed: true }, 'Deckhand ist aus dem Internet erreichbar', /runner/],
    [{ code: 'public_address_unreachable' }, 'Webhooks erreichen diesen Rechner nicht', /runner/],
  ])('has words for %j', (about, title, body) => {
    const said = noticeText(sent(about), GERMAN)
    expect(said.title).toBe(title)
    expect(said.body).toMatch(body)
  })

  it('counts several of every kind', () => {
    const one: NoticeAbout = { code: 'several', counts: [{ kind: 'job_failed', count: 3 }] }
    expect(noticeText(sent(one), GERMAN)).toEqual({ title: '3 Aufträge sind fehlgeschlagen', body: 'In Deckhand steht, was es ist.' })
    const all: NoticeAbout = { code: 'several', counts: NoticeKind.options.slice(0, 3).map((kind) => ({ kind, count: 1 })) }
    expect(noticeText(sent(all), GERMAN)).toEqual({
      title: 'Während der Ruhezeit',
      body: '1 Auftrag ist fehlgeschlagen. 1 Entscheidung wartet auf dich. 1 Auftrag ist an einer Grenze.',
    })
  })

  it('shows what another version sent as it is, and never more than fits', () => {
    expect(noticeText(sent(undefined), GERMAN)).toEqual({ title: 'As it was sent', body: 'In the words of the runner.' })
    const long = noticeText(sent({ code: 'budget_exhausted', schedule: 'x'.repeat(300) }), GERMAN)
    expect([...long.title]).toHaveLength(80)
  })
})
