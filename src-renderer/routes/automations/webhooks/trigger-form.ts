import type { CreateTrigger, NotifyVia, SignatureScheme, Trigger } from '../../../../src-runner/contract/triggers.ts'
import { Slug } from '../../../../src-runner/contract/triggers.ts'
import { t } from '../../../lib/language.ts'

export type TriggerForm = {
  name: string
  agentId: string | null
  taskTemplate: string
  notifyOnSuccess: boolean
  notifyVia: NotifyVia
  /** Empty: made from the name. */
  slug: string
  scheme: SignatureScheme | 'none'
  secret: string
  dedupe: boolean
  requirePlaceholders: boolean
}
export type TriggerField = keyof TriggerForm

export const EMPTY_TRIGGER: TriggerForm = {
  name: '',
  agentId: null,
  taskTemplate: '',
  notifyOnSuccess: false,
  notifyVia: 'auto',
  slug: '',
  scheme: 'none',
  secret: '',
  dedupe: false,
  requirePlaceholders: false,
}

/** A copy of a webhook without its address and its signing secret. */
export function copyOfTrigger(trigger: Trigger): TriggerForm {
  const { agentId, taskTemplate, notifyOnSuccess, notifyVia, dedupe, requirePlaceholders } = trigger
  return {
    ...EMPTY_TRIGGER,
    name: t('automations.copyOf', { name: trigger.name }).slice(0, 120),
    agentId,
    taskTemplate,
    notifyOnSuccess,
    notifyVia,
    scheme: trigger.signature ?? 'none',
    dedupe,
    requirePlaceholders,
  }
}

export function bodyOfTrigger(form: TriggerForm): CreateTrigger {
  return {
    name: form.name.trim(),
    agentId: form.agentId,
    taskTemplate: form.taskTemplate.trim(),
    ...(form.slug.trim() !== '' && { slug: form.slug.trim() }),
    notifyOnSuccess: form.notifyOnSuccess,
    notifyVia: form.notifyVia,
    signature: form.scheme === 'none' ? null : { scheme: form.scheme, secret: form.secret.trim() },
    dedupe: form.dedupe,
    requirePlaceholders: form.requirePlaceholders,
  }
}

/** The problems that can be found before anything is sent. */
export function problemsOfTrigger(form: TriggerForm): Partial<Record<TriggerField, string>> {
  const problems: Partial<Record<TriggerField, string>> = {}
  if (form.name.trim() === '') problems.name = t('automations.problems.nameMissing')
  else if (form.name.trim().length > 120) problems.name = t('automations.problems.nameLong')
  if (form.agentId === null) problems.agentId = t('automations.problems.agentMissing')
  if (form.taskTemplate.trim() === '') problems.taskTemplate = t('automations.problems.taskMissing')
  else if (form.taskTemplate.trim().length > 100_000) problems.taskTemplate = t('automations.problems.templateLong')
  if (form.slug.trim() !== '' && !Slug.safeParse(form.slug.trim()).success) problems.slug = t('automations.problems.slug')
  if (form.scheme !== 'none' && form.secret.trim() === '') problems.secret = t('automations.problems.secretMissing')
  return problems
}

/** The fields behind "Advanced". */
export const ADVANCED_FIELDS: readonly TriggerField[] = ['slug', 'scheme', 'secret', 'dedupe', 'requirePlaceholders']

/** The field that an issue of the runner is about. */
export function fieldOfTriggerIssue(path: string): TriggerField | null {
  const [first, second] = path.replace(/^body\./, '').split('.')
  if (first === 'signature') return second === 'scheme' ? 'scheme' : 'secret'
  const fields: TriggerField[] = [
    'name',
    'agentId',
    'taskTemplate',
    'notifyOnSuccess',
    'notifyVia',
    'slug',
    'dedupe',
    'requirePlaceholders',
  ]
  return fields.find((field) => field === first) ?? null
}
