import { quote } from '../../testing/things.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeLanguage } from '../../lib/language.ts'
import { findingText, fixText } from './health-check-text.ts'

const say = (finding: Parameters<typeof findingText>[0]['finding']) =>
  findingText({ finding, found: 'not shown' }, 'de').replaceAll('\u00a0', ' ')

beforeEach(() => changeLanguage('de'))
afterEach(() => changeLanguage('system'))

it('says in German what was found', () => {
  expect(say({ code: 'disk_free', bytes: 64_400_000_000, folder: '/home/ada/.deckhand' })).toBe(
    '64,4 GB sind frei, wo Deckhand seine Daten hat (/home/ada/.deckhand).',
  )
  expect(say({ code: 'models_answer', names: ['Anthropic', 'Garage'] })).toBe('Anthropic, Garage antworten.')
  expect(say({ code: 'overdue', minutes: 1 })).toBe('Ein Lauf ist seit 1 Minute fällig.')
  expect(say({ code: 'no_channel', waiting: 2 })).toBe('Kein Kanal ist an. 2 Nachrichten sind noch zu senden.')
})

it('says which programs agents have, whose they are, and which folder is none of them and why', () => {
  const found = { names: ['git', 'gh'], used: ['/home/ada/.local/bin'], leftOut: [{ folder: '.', why: 'relative' as const }] }
  expect(say({ code: 'programs_found', ...found })).toBe(
    'Agenten können git, gh und andere starten. Von dir, aus /home/ada/.local/bin: ohne deine Anmeldungen und Einstellungen. ' +
      'Ausgelassen: . (er hängt davon ab, wo ein Programm läuft).',
  )
  expect(say({ code: 'programs_unasked', shell: null, names: [], used: [], leftOut: [] })).toBe(
    'Deine Shell (keine) hat nicht gesagt, wo deine Programme sind. Von den bekannten Programmen ist keines da.',
  )
  expect(say({ code: 'programs_of_system', names: ['git'] })).toContain('wird ihnen nicht gezeigt')
})

it('says why each one fails', () => {
  const failures = [
    {
      name: '@ada_bot',
      status: 'failing' as const,
      why: { code: 'chat_unreachable' as const, params: { server: 'Telegram' } },
    },
    { name: '@bob_bot', status: 'failing' as const, why: quote('Gone fishing.') },
    { name: '@cleo_bot', status: 'connecting' as const, why: null },
  ]
  expect(say({ code: 'channels_fail', failures, waiting: 0 })).toBe(
    '@ada_bot: Telegram ist nicht erreichbar. Prüfe die Internetverbindung. @bob_bot: Gone fishing. @cleo_bot: Verbindet.',
  )
})

it('says what is to be done, and nothing where nothing is', () => {
  expect(fixText({ fix: 'Resume all.', fixKind: 'release_pause_all' })).toBe('Setze alle Agenten fort.')
  expect(
    fixText({ fix: 'Install coreutils and util-linux.', fixKind: 'sandbox', advice: { code: 'sandbox_helpers_missing_fix', params: {} } }),
  ).toBe('Installiere coreutils und util-linux.')
  expect(fixText({ fix: '' })).toBe('')
})

it('shows what another version found as it was said', () => {
  expect(findingText({ found: 'All is well.' }, 'de')).toBe('All is well.')
})
