import { transact } from '../../../platform/db/database.ts'
import { EXPORT_VERSION } from '../../../contract/export.ts'
import { readHistory, readSetup } from '../../../execution/export-setup.ts'
import { importSetup, readHistoryLines, readImport } from '../../../execution/import-setup.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import type { Handlers } from '../handler.ts'
import { listFoldersNotHere } from '../usable-folders.ts'
import type { HandlerDeps } from './deps.ts'

export function exportHandlers({ db, jobs, clock, ids, schedules, webhooks: { time }, dataDir, skills }: HandlerDeps) {
  return {
    async exportSetup() {
      const archives = await skills.packOwn()
      return { deckhand: 'export', version: EXPORT_VERSION, at: clock.now(), setup: readSetup({ db, time, schedules, archives }) }
    },
    exportHistory: ({ query }) => readHistory(db, jobs, query.cursor),

    importHistory({ body }) {
      const lines = readHistoryLines(body.lines)
      return { result: transact(db, (tx) => jobs.importHistory(tx, lines)) }
    },

    async importSetup({ body: { head, dryRun } }) {
      const { backupFolder } = readSettings(db)
      const given = await readImport(head, { listFoldersNotHere: (folders) => listFoldersNotHere(folders, { dataDir, backupFolder }) })
      return {
        result: await skills.importOwn(given.setup, (own) => importSetup({ db, clock, ids, time, schedules, own }, given, { dryRun })),
      }
    },
  } satisfies Partial<Handlers>
}
