import { transact } from '../../../platform/db/transact.ts'
import { messageOf } from '../../../lib/errors.ts'
import { triggerSignatureKey } from '../../../lib/vault.ts'
import { getDelivery, listDeliveries } from '../../../domain/triggers/deliveries.ts'
import {
  createTrigger,
  deleteTrigger,
  getTrigger,
  listTriggers,
  rotateSecret,
  setTriggerStatus,
} from '../../../domain/triggers/triggers.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes =
  | 'listTriggers'
  | 'createTrigger'
  | 'previewTemplate'
  | 'getTrigger'
  | 'deleteTrigger'
  | 'pauseTrigger'
  | 'resumeTrigger'
  | 'rotateTriggerSecret'
  | 'testTrigger'
  | 'listDeliveries'
  | 'getDelivery'
  | 'replayDelivery'

export function triggerHandlers({ db, clock, ids, vault, webhooks, webhookBase, log }: HandlerDeps): Pick<Handlers, Routes> {
  const { time } = webhooks

  /** The only place where a secret is seen after it was made: what is answered here is answered once. */
  function urlOf(slug: string, secret: string): string {
    return `${webhookBase().replace(/\/+$/, '')}/webhooks/${slug}/${secret}`
  }

  async function forgetSignature(triggerId: string): Promise<void> {
    await vault.delete(triggerSignatureKey(triggerId)).catch((error: unknown) => {
      log.warn({ error, triggerId }, `the signing secret of a webhook that is gone could not be removed: ${messageOf(error)}`)
    })
  }

  return {
    listTriggers({ query }) {
      webhooks.settle()
      return listTriggers(db, time, query)
    },

    getTrigger({ params }) {
      webhooks.settle()
      return { trigger: getTrigger(db, time, params.triggerId) }
    },

    /** The vault first: a break in between leaves a secret without a webhook (harmless), never a webhook that lets nobody in. */
    async createTrigger({ body }) {
      const id = ids.next()
      if (body.signature !== null) await vault.set(triggerSignatureKey(id), body.signature.secret)
      try {
        const { trigger, secret } = transact(db, (tx) => createTrigger(tx, { clock, ids, time }, id, body))
        return { trigger, url: urlOf(trigger.slug, secret) }
      } catch (error) {
        if (body.signature !== null) await forgetSignature(id)
        throw error
      }
    },

    async deleteTrigger({ params: { triggerId } }) {
      const { signature } = getTrigger(db, time, triggerId)
      transact(db, (tx) => deleteTrigger(tx, triggerId))
      if (signature !== null) await forgetSignature(triggerId)
      return { ok: true }
    },

    pauseTrigger: ({ params }) => ({ trigger: transact(db, (tx) => setTriggerStatus(tx, time, params.triggerId, 'paused')) }),
    resumeTrigger: ({ params }) => ({ trigger: transact(db, (tx) => setTriggerStatus(tx, time, params.triggerId, 'active')) }),

    rotateTriggerSecret({ params }) {
      const { trigger, secret } = transact(db, (tx) => rotateSecret(tx, time, params.triggerId))
      return { trigger, url: urlOf(trigger.slug, secret) }
    },

    previewTemplate: ({ body }) => webhooks.preview(body.taskTemplate, body.payload),

    async testTrigger({ params, body }) {
      const { jobId } = await webhooks.test(params.triggerId, body.payload)
      return { jobId, delivery: getDelivery(db, jobId).delivery }
    },

    listDeliveries({ params, query }) {
      webhooks.settle()
      return listDeliveries(db, params.triggerId, query)
    },

    getDelivery({ params }) {
      const { delivery, ...more } = getDelivery(db, params.deliveryId)
      return { delivery: { ...delivery, ...more } }
    },

    async replayDelivery({ params }) {
      const { jobId } = await webhooks.replay(params.deliveryId)
      return { jobId, delivery: getDelivery(db, jobId).delivery }
    },
  }
}
