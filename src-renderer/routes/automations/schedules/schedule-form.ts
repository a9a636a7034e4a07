import {
  type CreateSchedule,
  MAX_CATCH_UP_HOURS,
  type Schedule,
  type ScheduleNotifyVia,
  type UpdateSchedule,
} from '../../../../src-runner/contract/schedules.ts'
import { fieldText, readNumber } from '../../../../resources/locales/numbers.ts'
import { locale, t } from '../../../lib/language.ts'
import { ownTimezone } from '../../../lib/time.ts'

/** The fields as the person types them: numbers are text until they are sent. */
export type ScheduleForm = {
  name: string
  agentId: string | null
  task: string
  cron: string
  timezone: string
  dailyBudgetUsd: string
  catchUpHours: string
  notifyOnSuccess: boolean
  notifyVia: ScheduleNotifyVia
}
export type ScheduleField = keyof ScheduleForm

const BUDGET = { min: 0.5, max: 100 }

export function emptySchedule(): ScheduleForm {
  return {
    name: '',
    agentId: null,
    task: '',
    cron: '0 9 * * *',
    timezone: ownTimezone(),
    dailyBudgetUsd: '5',
    catchUpHours: '24',
    notifyOnSuccess: false,
    notifyVia: 'auto',
  }
}

export function exampleSchedule(): ScheduleForm {
  return {
    ...emptySchedule(),
    name: t('automations.schedule.exampleName'),
    task: t('automations.schedule.exampleTask'),
    cron: '30 7 * * 1-5',
    dailyBudgetUsd: '1',
  }
}

export function formOfSchedule(schedule: Schedule): ScheduleForm {
  const { name, agentId, task, cron, timezone, notifyOnSuccess, notifyVia } = schedule
  return {
    name,
    agentId,
    task,
    cron,
    timezone,
    dailyBudgetUsd: fieldText(schedule.dailyBudgetUsd, locale()),
    catchUpHours: String(schedule.catchUpHours),
    notifyOnSuccess,
    notifyVia,
  }
}

export function copyOfSchedule(schedule: Schedule): ScheduleForm {
  return { ...formOfSchedule(schedule), name: t('automations.copyOf', { name: schedule.name }).slice(0, 120) }
}

export function bodyOfSchedule(form: ScheduleForm): CreateSchedule {
  return {
    name: form.name.trim(),
    // `problemsOfSchedule` rejects a missing agent.
    agentId: form.agentId ?? '',
    task: form.task.trim(),
    cron: form.cron.trim(),
    timezone: form.timezone,
    dailyBudgetUsd: readNumber(form.dailyBudgetUsd, locale()),
    catchUpHours: Number(form.catchUpHours),
    notifyOnSuccess: form.notifyOnSuccess,
    notifyVia: form.notifyVia,
  }
}

/** Only the changed fields: sending a cron expression, even an equivalent one, restarts the schedule. */
export function changesOfSchedule(before: ScheduleForm, after: ScheduleForm): UpdateSchedule {
  const was = bodyOfSchedule(before) as Record<string, unknown>
  return Object.fromEntries(Object.entries(bodyOfSchedule(after)).filter(([field, value]) => value !== was[field]))
}

/** The problems that can be found before anything is sent. */
export function problemsOfSchedule(form: ScheduleForm, locale: string): Partial<Record<ScheduleField, string>> {
  const problems: Partial<Record<ScheduleField, string>> = {}
  const show = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  if (form.name.trim() === '') problems.name = t('automations.problems.nameMissing')
  else if (form.name.trim().length > 120) problems.name = t('automations.problems.nameLong')
  if (form.agentId === null) problems.agentId = t('automations.problems.agentMissing')
  if (form.task.trim() === '') problems.task = t('automations.problems.taskMissing')
  else if (form.task.trim().length > 200_000) problems.task = t('automations.problems.taskLong')
  if (form.cron.trim() === '') problems.cron = t('automations.problems.cronMissing')
  if (form.timezone.trim() === '') problems.timezone = t('automations.problems.timezone')
  const budget = readNumber(form.dailyBudgetUsd, locale)
  if (!Number.isFinite(budget)) problems.dailyBudgetUsd = t('automations.problems.number')
  else if (budget < BUDGET.min || budget > BUDGET.max) {
    problems.dailyBudgetUsd = t('automations.problems.between', { min: show.format(BUDGET.min), max: show.format(BUDGET.max) })
  }
  const hours = Number(form.catchUpHours)
  if (!(hours >= 0 && hours <= MAX_CATCH_UP_HOURS))
    problems.catchUpHours = t('automations.problems.between', { min: '0', max: show.format(MAX_CATCH_UP_HOURS) })
  return problems
}

/** The field that an issue of the runner is about. */
export function fieldOfScheduleIssue(path: string): ScheduleField | null {
  const [first] = path.replace(/^body\./, '').split('.')
  return (Object.keys(emptySchedule()) as ScheduleField[]).find((field) => field === first) ?? null
}
