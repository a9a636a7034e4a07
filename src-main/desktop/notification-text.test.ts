import { describe, expect, it } from 'vitest'
import type { Message } from '../../src-runner/contract/messages.ts'
import { notificationText } from './notification-text.ts'
import { speechOf } from './language.ts'

const [ENGLISH, GERMAN] = [speechOf('en'), speechOf('de')]
const quote = (words: string): Message => ({ code: 'quoted', params: { words } })
const notificationOf = (title: Message, body: Message | null) => ({ kind: 'job_failed', title, body, path: '/' }) as const

describe('a notification', () => {
  it('gives the reason in the language of the page, with the name of the job as its title', () => {
    const notification = notificationOf(quote('Zaun streichen'), { code: 'job_agent_gone', params: {} })
    expect(notificationText(notification, GERMAN)).toEqual({ title: 'Zaun streichen', body: 'Der Agent dieses Auftrags wurde gelöscht.' })
  })

  it('describes what a call would do', () => {
    const title: Message = { code: 'notify_approval', params: { agentName: 'Dora' } }
    const notification = notificationOf(title, { code: 'effect_create', params: { path: 'plan.md', bytes: 120 } })
    expect(notificationText(notification, GERMAN)).toEqual({ title: 'Dora braucht deine Freigabe', body: 'plan.md anlegen (120 Byte)' })
    expect(notificationText(notification, ENGLISH)).toEqual({ title: 'Dora needs your approval', body: 'Create plan.md (120 bytes)' })
  })

  it('shows foreign text on one line, shortened to fit', () => {
    const { title, body } = notificationText(notificationOf(quote('x'.repeat(300)), quote('Which\n one?')), GERMAN)
    expect([...title]).toHaveLength(80)
    expect(body).toBe('Which one?')
    expect(notificationText(notificationOf(quote('A'), null), GERMAN).body).toBe('')
  })

  it('renders nested messages', () => {
    const [first, second] = [1, 2].map((count): Message => ({ code: 'notify_count_job_failed', params: { count } }))
    const notification = notificationOf(
      { code: 'notify_several', params: {} },
      { code: 'notify_list', params: { first: first!, second: second! } },
    )
    expect(notificationText(notification, GERMAN)).toEqual({
      title: 'Während der Ruhezeit',
      body: '1 Auftrag ist fehlgeschlagen. 2 Aufträge sind fehlgeschlagen',
    })
  })
})
