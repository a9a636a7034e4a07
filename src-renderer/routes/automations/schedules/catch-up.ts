import { t } from '../../../lib/language.ts'

/** How old a missed run may be to be caught up, as an option or as a fact. */
export function catchUpText(hours: number, as: 'choice' | 'fact'): string {
  const isChoice = as === 'choice'
  if (hours === 0) return isChoice ? t('automations.schedule.catchUpNever') : t('automations.schedule.catchUpFactNever')
  if (hours % 24 === 0)
    return t(isChoice ? 'automations.schedule.catchUpDays' : 'automations.schedule.catchUpFactDays', { count: hours / 24 })
  return t(isChoice ? 'automations.schedule.catchUpHours' : 'automations.schedule.catchUpFactHours', { count: hours })
}
