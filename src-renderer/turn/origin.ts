import { FireContext } from '../../src-runner/contract/schedules.ts'
import type { Job } from '../../src-runner/contract/jobs.ts'
import { DeliveryContext } from '../../src-runner/contract/triggers.ts'
import { cachedFormat } from '../kit/time.ts'
import type { Words } from '../kit/words/words.ts'

/** The webhook or schedule that started a job, and where that can be looked at. */
export type Origin = {
  name: string
  /** To the very delivery or due time. */
  href: string
  /** What there is to say of it beyond its name. */
  note: string | null
  /** What a person should know of it, such as placeholders that stayed empty. */
  warning: string | null
}

/** null: nobody but a person or another agent started it. */
export function originOf(job: Job, words: Words, locale: string): Origin | null {
  const text = words.automations.origin
  if (job.channel === 'webhook' && job.triggerId !== null) {
    const context = DeliveryContext.safeParse(job.context).data
    return {
      name: context?.trigger.name ?? words.common.channel.webhook,
      // Without a context the inbox finds the delivery by the job.
      href: `/automations/webhooks/${job.triggerId}?${context === undefined ? `job=${job.id}` : `delivery=${context.deliveryId}`}`,
      note: context?.eventName ?? null,
      warning: context === undefined || context.missing.length === 0 ? null : words.automations.webhook.emptyCount(context.missing.length),
    }
  }
  if (job.channel === 'schedule' && job.scheduleId !== null) {
    const context = FireContext.safeParse(job.context).data
    return {
      name: context?.schedule.name ?? words.common.channel.schedule,
      href: `/automations/schedules/${job.scheduleId}${job.occurrenceId === null ? '' : `?occurrence=${job.occurrenceId}`}`,
      note: context === undefined ? null : howItFired(context, text, locale),
      warning: null,
    }
  }
  return null
}

function howItFired(fire: FireContext, text: Words['automations']['origin'], locale: string): string {
  if (fire.origin === 'run_now') return text.runNow
  const due = text.due(
    cachedFormat(`due ${locale}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })).format(fire.dueAt),
  )
  return fire.caughtUp ? `${due}, ${text.caughtUp}` : due
}
