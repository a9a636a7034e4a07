import { transact } from '../../../base/db/transact.ts'
import { setPrice } from '../../../records/prices/prices.ts'
import { getProvider, listProviders } from '../../../records/providers/providers.ts'
import { readSettings } from '../../../records/settings/settings.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function modelHandlers({ db, clock, models }: HandlerDeps): Pick<Handlers, 'listModels' | 'setModelPrice'> {
  return {
    async listModels() {
      const listed = await models.listModels(listProviders(db))
      return { ...listed, defaultModel: readSettings(db).defaultModel }
    },

    setModelPrice({ body }) {
      getProvider(db, body.model.providerId)
      transact(db, (tx) => setPrice(tx, { clock }, body.model, body.price))
      return { ok: true }
    },
  }
}
