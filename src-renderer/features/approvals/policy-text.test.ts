import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TaintSource, TraceReason } from '../../../src-runner/contract/rules.ts'
import { changeLanguage } from '../../lib/language.ts'
import { causeText, traceEntryText } from './policy-text.ts'

const page: TaintSource = { seq: 3, cause: 'the answer of web_fetch', about: { code: 'answer_of', tool: 'web_fetch' } }
const notes: TaintSource = { seq: 1, cause: 'what the agent remembers, in its prompt', about: { code: 'memories' } }

describe('a entry', () => {
  const say = (reason: TraceReason) => traceEntryText({ reason, text: 'not shown' }, 'de')

  beforeEach(() => changeLanguage('de'))
  afterEach(() => changeLanguage('system'))

  it('says what it knows in German', () => {
    expect(say({ code: 'it_matters', matters: ['leaves_machine', 'deletes'] })).toBe(
      'Der Agent fragt, wenn es darauf ankommt. Dieser Aufruf schickt etwas von diesem Rechner hinaus und löscht etwas.',
    )
    expect(say({ code: 'untrusted_and_private', untrusted: page, private: notes })).toBe(
      'Der Auftrag hat private Daten gelesen (woran sich der Agent erinnert, in seiner Aufgabe) und Text, den jeder geschrieben haben kann (die Antwort von web_fetch); darum verlässt nichts ungefragt diesen Rechner.',
    )
    const rule = { effect: 'deny', tool: 'write_file', pattern: null, folder: '/home/ada', agentId: null } as const
    expect(say({ code: 'rule', rule })).toBe('Die Regel: write_file ablehnen in /home/ada, für alle Agenten.')
    const ofOne = { ...rule, effect: 'ask', folder: null, agentId: '01936f5e-0000-7000-8000-000000000001' } as const
    expect(say({ code: 'rule', rule: ofOne })).toBe('Die Regel: Vor write_file fragen, für diesen Agenten.')
    expect(say({ code: 'asks_first', matters: [] })).toBe('Der Agent fragt vor jedem Aufruf, der mehr tut als lesen.')
  })

  it('of an older version keeps its sentence', () => {
    expect(traceEntryText({ text: 'The agent asks first, and this call only reads.' }, 'de')).toBe(
      'The agent asks first, and this call only reads.',
    )
    expect(causeText({ seq: 0, cause: 'a webhook started it' })).toBe('a webhook started it')
  })
})
