import { transact } from '../../../platform/db/database.ts'
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
import { getAgent } from '../../../domain/agents/agents.ts'
import { requireNotifiable } from '../../../domain/channels/owner-conversation.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { Handlers } from '../handler.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

export function triggerHandlers({ db, clock, ids, vault, webhooks, webhookBase, log }: HandlerDeps) {
  const { time } = webhooks

  /** Contains the secret, which no later response shows. */
  function urlOf(slug: string, secret: string): string {
    return `${webhookBase().replace(/\/+$/, '')}/webhooks/${slug}/${secret}`
  }

  return {
    listTriggers({ query }, { caller }) {
      webhooks.flush()
      return listTriggers(db, time, { ...query, entityId: caller.entityId })
    },

    getTrigger({ params }) {
      webhooks.flush()
      return { trigger: getTrigger(db, time, params.triggerId) }
    },

    async createTrigger({ body }, { caller }) {
      // Slugs are one namespace: a taken one would tell of a webhook of another workspace.
      if (caller.entityId !== undefined && body.slug !== undefined) throw new AppError('owner_only', createMessage('slug_by_owner'))
      const id = ids.next()
      const create = () =>
        transact(db, (tx) => {
          if (body.notifyOnSuccess && body.agentId !== undefined && body.agentId !== null) {
            requireNotifiable(tx, getAgent(tx, body.agentId).id, [body.notifyVia])
          }
          return createTrigger(tx, { clock, ids, time }, id, body, caller.entityId)
        })
      const signingSecret = body.signature?.secret
      const { trigger, secret } =
        signingSecret === undefined ? create() : await writeWithSecret({ vault, log }, triggerSignatureKey(id), signingSecret, create)
      return { trigger, url: urlOf(trigger.slug, secret) }
    },

    async deleteTrigger({ params: { triggerId } }) {
      const { signature } = getTrigger(db, time, triggerId)
      transact(db, (tx) => deleteTrigger(tx, triggerId))
      if (signature !== null) {
        await vault
          .delete(triggerSignatureKey(triggerId))
          .catch((error: unknown) => log.warn({ error, triggerId }, 'could not delete the signing secret of a deleted webhook'))
      }
      return { ok: true }
    },

    pauseTrigger: ({ params }) => ({ trigger: transact(db, (tx) => setTriggerStatus(tx, time, params.triggerId, 'paused')) }),

    async resumeTrigger({ params: { triggerId } }) {
      const { signature } = getTrigger(db, time, triggerId)
      // An import brings no secrets, and without one every delivery would be refused.
      const lacksSecret = signature !== null && (await vault.get(triggerSignatureKey(triggerId))) === null
      if (lacksSecret) throw new AppError('trigger_has_no_signing_secret')
      return { trigger: transact(db, (tx) => setTriggerStatus(tx, time, triggerId, 'active')) }
    },

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
      webhooks.flush()
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
  } satisfies Partial<Handlers>
}
