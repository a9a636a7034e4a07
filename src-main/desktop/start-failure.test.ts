import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { prepareDataDir } from '../settings/data-dir.ts'
import { readEnvironment } from '../settings/environment.ts'
import { StartError } from '../settings/start-error.ts'
import { speechOf } from './language.ts'
import { startFailureText } from './start-failure.ts'

it('says in German why the app cannot start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-start-'))
  const dataDir = join(folder, 'file', 'data')
  writeFileSync(join(folder, 'file'), '')
  try {
    prepareDataDir(dataDir)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    const { title, text } = startFailureText(error, speechOf('de'))
    expect(title).toBe('Deckhand kann nicht starten')
    expect(text).toContain(`Der Datenordner ${dataDir} lässt sich nicht verwenden`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it.each([
  [{ RUNNER_PORT: '80a' }, 'RUNNER_PORT muss ein Port von 0 bis 65535 sein (angegeben: „80a“).'],
  [{ AUTH_MODE: 'open' }, 'AUTH_MODE muss einer dieser Werte sein: local-trust, local-auth, bearer-token (angegeben: „open“).'],
  [
    { WORKER_SECRET: 'two words' },
    'Das Worker-Secret in WORKER_SECRET muss aus 1 bis 512 Buchstaben, Ziffern oder Zeichen bestehen, ohne Leerzeichen.',
  ],
  [{ RUNNER_HOST: '0.0.0.0' }, 'RUNNER_HOST 0.0.0.0 würde Deckhand ohne Passwort für das Netzwerk öffnen.'],
])('says in German what is wrong with %o', (env, sentence) => {
  expect.assertions(1)
  try {
    readEnvironment({ env, platform: 'linux', home: '/home/ann', cwd: '/work' })
  } catch (error) {
    expect(startFailureText(error, speechOf('de')).text).toContain(sentence)
  }
})

it('quotes what is not ours', () => {
  expect(startFailureText(new Error('out of memory'), speechOf('de')).text).toBe('out of memory')
})
