import { RunContext } from '../../../src-runner/contract/schedules.ts'
import type { Job } from '../../../src-runner/contract/jobs.ts'
import { DeliveryContext } from '../../../src-runner/contract/triggers.ts'
import { cachedFormat } from '../../../resources/locales/numbers.ts'
import { t } from '../../lib/language.ts'

/** The webhook or schedule that started a job. */
export type Origin = {
  name: string
  /** Links to the delivery or the scheduled run. */
  href: string
  /** More about it: the name of the event, or the due time. */
  note: string | null
  /** A warning, such as placeholders that stayed empty. */
  warning: string | null
}

/** Returns null when a person or another agent started the job. */
export function originOf(job: Job, locale: string): Origin | null {
  if (job.channel === 'webhook' && job.triggerId !== null) {
    const context = DeliveryContext.safeParse(job.context).data
    return {
      name: context?.trigger.name ?? t('common.channel.webhook'),
      // Without a context, the inbox finds the delivery by the job.
      href: `/automations/webhooks/${job.triggerId}?${context === undefined ? `job=${job.id}` : `delivery=${context.deliveryId}`}`,
      note: context?.eventName ?? null,
      warning:
        context === undefined || context.missing.length === 0
          ? null
          : t('automations.webhook.emptyCount', { count: context.missing.length }),
    }
  }
  if (job.channel === 'schedule' && job.scheduleId !== null) {
    const context = RunContext.safeParse(job.context).data
    return {
      name: context?.schedule.name ?? t('common.channel.schedule'),
      href: `/automations/schedules/${job.scheduleId}${job.occurrenceId === null ? '' : `?occurrence=${job.occurrenceId}`}`,
      note: context === undefined ? null : howItFired(context, locale),
      warning: null,
    }
  }
  return null
}

function howItFired(fire: RunContext, locale: string): string {
  if (fire.origin === 'run_now') return t('automations.origin.runNow')
  const due = t('automations.origin.due', {
    time: cachedFormat(`due ${locale}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })).format(
      fire.dueAt,
    ),
  })
  return fire.caughtUp ? `${due}, ${t('automations.origin.caughtUp')}` : due
}
