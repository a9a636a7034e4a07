import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSeed } from '../e2e/scenarios/seed.ts'
import { openDatabase } from '../src-runner/platform/db/open-database.ts'
import { systemClock } from '../src-runner/lib/clock.ts'

const MORE_THAN_A_SEARCH_INDEXES = 5_200

it('a search of a scenario that was just written finds its newest job', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-scenario-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const seed = openSeed(folder, Date.UTC(2026, 0, 1))
  const agent = seed.agent({ name: 'Ada' })
  seed.together(() => {
    for (let n = 1; n <= MORE_THAN_A_SEARCH_INDEXES; n++) seed.job({ agent, task: `Look at parcel ${n}.`, turns: [], outcome: 'pending' })
  })
  seed.close()

  const db = openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock })
  onTestFinished(() => db.close())
  const found = db
    .prepare<{ n: number }>('SELECT count(*) AS n FROM job_search WHERE job_search MATCH ?')
    .get(String(MORE_THAN_A_SEARCH_INDEXES))
  expect(found).toEqual({ n: 1 })
})
