import { z } from 'zod'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { CreateTrigger, Delivery, DeliveryDetail, MAX_WEBHOOK_BYTES, PreviewTemplate, TemplatePreview, Trigger } from '../triggers.ts'
import { del, get, Nothing, post } from './route.ts'

const triggerParams = z.object({ triggerId: Id })
const deliveryParams = z.object({ deliveryId: Id })

export const triggerRoutes = {
  listTriggers: get('/api/triggers', {
    reach: 'workspace',
    summary: 'Webhook triggers, newest first.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ triggers: z.array(Trigger), nextCursor: NextCursor }),
    shows: ['triggers', 'trigger'],
  }),
  createTrigger: post('/api/triggers', {
    reach: 'workspace',
    summary: 'Create a webhook trigger. Its address is returned only here and after a rotation.',
    body: CreateTrigger,
    status: 201,
    answer: z.object({ trigger: Trigger, url: z.string() }),
    errors: ['agent_not_found', 'trigger_slug_taken', 'vault_unavailable'],
  }),
  previewTemplate: post('/api/triggers/preview', {
    reach: 'neutral',
    summary: 'Fill a task template with a sample payload. Nothing is stored and nothing runs.',
    body: PreviewTemplate,
    answer: TemplatePreview,
  }),
  getTrigger: get('/api/triggers/:triggerId', {
    reach: 'workspace',
    summary: 'One webhook trigger.',
    params: triggerParams,
    answer: z.object({ trigger: Trigger }),
    errors: ['trigger_not_found'],
    shows: ['trigger'],
  }),
  deleteTrigger: del('/api/triggers/:triggerId', {
    reach: 'workspace',
    summary: 'Delete a webhook trigger and its inbox. Its jobs stay in Activity.',
    params: triggerParams,
    answer: Nothing,
    errors: ['trigger_not_found'],
  }),
  pauseTrigger: post('/api/triggers/:triggerId/pause', {
    reach: 'workspace',
    summary: 'Pause a webhook trigger. Its address then responds like an unknown one.',
    params: triggerParams,
    answer: z.object({ trigger: Trigger }),
    errors: ['trigger_not_found'],
  }),
  resumeTrigger: post('/api/triggers/:triggerId/resume', {
    reach: 'workspace',
    summary: 'Resume a paused webhook trigger, with the same secret and counters.',
    params: triggerParams,
    answer: z.object({ trigger: Trigger }),
    errors: ['trigger_not_found', 'trigger_has_no_signing_secret', 'vault_unavailable'],
  }),
  rotateTriggerSecret: post('/api/triggers/:triggerId/rotate-secret', {
    reach: 'workspace',
    summary: 'Rotate the secret of a webhook trigger. The old address stops working at once.',
    params: triggerParams,
    answer: z.object({ trigger: Trigger, url: z.string() }),
    errors: ['trigger_not_found'],
  }),
  testTrigger: post('/api/triggers/:triggerId/test', {
    reach: 'workspace',
    summary: 'Send a test delivery. It is handled like a real one, but not counted against the hourly limit.',
    params: triggerParams,
    body: z.object({ payload: z.string().max(MAX_WEBHOOK_BYTES) }),
    status: 202,
    answer: z.object({ jobId: Id, delivery: Delivery }),
    errors: ['trigger_not_found', 'trigger_is_paused', 'trigger_has_no_agent', 'placeholder_missing', 'job_creation_failed'],
  }),
  listDeliveries: get('/api/triggers/:triggerId/deliveries', {
    reach: 'workspace',
    summary: 'The inbox of a webhook trigger: its last 200 deliveries with their real outcome, newest first.',
    params: triggerParams,
    query: PageQuery,
    answer: z.object({ deliveries: z.array(Delivery), nextCursor: NextCursor }),
    errors: ['trigger_not_found'],
    shows: ['trigger'],
  }),
  getDelivery: get('/api/deliveries/:deliveryId', {
    reach: 'workspace',
    summary: 'One delivery with its payload and the task of the agent.',
    params: deliveryParams,
    answer: z.object({ delivery: DeliveryDetail }),
    errors: ['delivery_not_found'],
    shows: ['trigger'],
  }),
  replayDelivery: post('/api/deliveries/:deliveryId/replay', {
    reach: 'workspace',
    summary: 'Create a new job from a stored delivery. Not counted against the hourly limit.',
    params: deliveryParams,
    status: 202,
    answer: z.object({ jobId: Id, delivery: Delivery }),
    errors: ['delivery_not_found', 'delivery_has_no_payload', 'trigger_is_paused', 'trigger_has_no_agent', 'job_creation_failed'],
  }),
}
