import { expect, it } from 'vitest'
import type { AttentionItem } from '../../../src-runner/contract/notifications.ts'
import { de } from '../../kit/words/de.ts'
import { attentionText } from './attention-text.ts'

const item = (fields: Partial<AttentionItem>): AttentionItem => ({
  ...{ kind: 'schedule_missed', subjectId: null, title: 'Its title', detail: 'Its detail.', path: '/', at: 0 },
  ...fields,
})
const say = (fields: Partial<AttentionItem>) => {
  const { title, why } = attentionText(item(fields), de, 'de')
  return [title, why.replaceAll('\u00a0', ' ')]
}

it('says in German what needs the person, and why', () => {
  expect(
    say({ about: { kind: 'schedule_missed', schedule: 'Digest', times: 3 }, detailSaid: { code: 'due_no_catch_up', facts: {} } }),
  ).toEqual([
    '„Digest“ hat 3 Läufe verpasst',
    'Deckhand lief zu dieser Zeit nicht, oder der Rechner schlief, und dieser Zeitplan holt nichts nach.',
  ])
  expect(say({ about: { kind: 'budget_exhausted', schedule: 'Digest', agentName: 'Ada', budgetUsd: 1.5 } })).toEqual([
    '„Digest“ hat sein Budget verbraucht',
    'Ada hat die 1,50 $ von heute ausgegeben. Morgen geht es von selbst weiter.',
  ])
  expect(say({ about: { kind: 'delivery_refused', trigger: 'Orders', times: 1, outcome: 'invalid_json' } })).toEqual([
    'Eine Zustellung an „Orders“ wurde abgewiesen',
    de.automations.webhook.outcomeWhy.invalid_json,
  ])
})

it('keeps what a service said, and what another version said', () => {
  expect(say({ about: { kind: 'channel_failing', agentName: 'Ada', service: 'telegram' }, detail: 'Gone fishing.' })).toEqual([
    'Ada erreicht Telegram nicht',
    'Gone fishing.',
  ])
  expect(say({})).toEqual(['Its title', 'Its detail.'])
})
