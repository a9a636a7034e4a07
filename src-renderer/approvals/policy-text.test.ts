import { describe, expect, it } from 'vitest'
import type { CallEffect, Mark, VoiceReason } from '../../src-runner/contract/rules.ts'
import { de } from '../kit/words/de.ts'
import { en } from '../kit/words/en.ts'
import { effectText } from '../kit/words/telling.ts'
import { causeText, voiceText } from './policy-text.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const page: Mark = { seq: 3, cause: 'the answer of web_fetch', about: { code: 'answer_of', tool: 'web_fetch' } }
const notes: Mark = { seq: 1, cause: 'what the agent remembers, in its prompt', about: { code: 'memories' } }

describe('a voice', () => {
  const say = (reason: VoiceReason) => voiceText({ reason, text: 'not shown' }, de, 'de')

  it('says what it knows in German', () => {
    expect(say({ code: 'it_matters', matters: ['leaves_machine', 'deletes'] })).toBe(
      'Der Agent fragt, wenn es darauf ankommt. Dieser Aufruf schickt etwas von diesem Rechner hinaus und löscht etwas.',
    )
    expect(say({ code: 'untrusted_and_private', untrusted: page, private: notes })).toBe(
      'Der Auftrag hat private Daten gelesen (woran sich der Agent erinnert, in seiner Aufgabe) und Text, den jeder geschrieben haben kann (die Antwort von web_fetch); darum verlässt nichts ungefragt diesen Rechner.',
    )
    const rule = { effect: 'deny', tool: 'write_file', pattern: null, folder: '/home/ada', agentId: null } as const
    expect(say({ code: 'rule', rule })).toBe('Die Regel: Erlaube nie write_file in /home/ada, für jeden Agenten.')
    const ofOne = { ...rule, effect: 'ask', folder: null, agentId: '01936f5e-0000-7000-8000-000000000001' } as const
    expect(say({ code: 'rule', rule: ofOne })).toBe('Die Regel: Frage vor write_file, für diesen Agenten.')
    expect(say({ code: 'asks_first', matters: [] })).toBe('Der Agent fragt vor jedem Aufruf, der mehr tut als lesen.')
  })

  it('of an older version keeps its sentence', () => {
    expect(voiceText({ text: 'The agent asks first, and this call only reads.' }, de, 'de')).toBe(
      'The agent asks first, and this call only reads.',
    )
    expect(causeText({ seq: 0, cause: 'a webhook started it' }, de)).toBe('a webhook started it')
  })
})

describe('the effect of a call', () => {
  const say = (effectOn: CallEffect, words = de, locale = 'de') => plain(effectText({ effectOn, summary: 'not shown' }, words, locale))

  it('begins with what is done, so that a list which cuts it off still says so', () => {
    expect(say({ code: 'replace', path: 'Notes/plan.md', bytes: 2048, newBytes: 3_100_000, own: false, lost: false })).toBe(
      'Überschreiben: Notes/plan.md (2 kB → 3,1 MB)',
    )
    expect(say({ code: 'delete', path: 'scan.pdf', bytes: 900, forGood: true, lost: true })).toBe(
      'Endgültig löschen: scan.pdf (900 Byte). Das ist zu groß, um aufbewahrt zu werden, und lässt sich nicht rückgängig machen',
    )
    expect(say({ code: 'change', path: 'a.txt', bytes: 10, newBytes: null, lost: false })).toBe(
      'Ändern: ein Teil von a.txt (10 Byte, wo immer er vorkommt)',
    )
  })

  it('tells of a program what holds it, and why nothing does', () => {
    const run = { code: 'run', line: 'npm test', shell: null, folder: 'Project' } as const
    expect(say({ ...run, box: 'without_network' })).toBe('Ausführen: „npm test“ in Project, in der Sandbox, ohne Netz')
    expect(say({ ...run, box: 'none', why: { code: 'box_missing', facts: {} } })).toBe(
      'Ausführen: „npm test“ in Project, ohne Sandbox: Es kann alles, was du kannst. bubblewrap ist auf diesem Rechner nicht installiert.',
    )
    expect(say({ ...run, box: 'with_network' }, en, 'en')).toBe('Run “npm test” in Project, in the sandbox, with network')
  })

  it('of an older version keeps its sentence', () => {
    expect(effectText({ summary: 'Create a.txt (2 KB)' }, de, 'de')).toBe('Create a.txt (2 KB)')
  })
})
