import { transact } from '../../../base/db/transact.ts'
import { getProvider } from '../../../records/providers/providers.ts'
import { changeSettings, readSettings } from '../../../records/settings/settings.ts'
import { readSpend } from '../../../records/spend/spend.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function settingsHandlers({ db, clock, worker }: HandlerDeps): Pick<Handlers, 'getSettings' | 'updateSettings' | 'getSpend'> {
  return {
    getSettings: () => ({ settings: readSettings(db) }),

    updateSettings({ body }) {
      if (body.defaultModel != null) getProvider(db, body.defaultModel.providerId)
      const settings = transact(db, (tx) => changeSettings(tx, { clock }, body))
      // More places may be free than a moment ago.
      worker.nudge()
      return { settings }
    },

    getSpend: ({ query }) => readSpend(db, query),
  }
}
