import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { prepareDataDir } from '../settings/data-dir.ts'
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

it('quotes what is not ours', () => {
  expect(startFailureText(new Error('out of memory'), speechOf('de')).text).toBe('out of memory')
})
