import {
  type Agent,
  type Autonomy,
  type CreateAgent,
  DEFAULT_LIMITS,
  MAX_AVATAR_CHARS,
  type ModelRef,
} from '../../../src-runner/contract/agents.ts'
import { fieldText, readNumber } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'

/** The fields as the person types them: numbers are text until they are sent. */
export type AgentForm = {
  name: string
  avatar: string
  instructions: string
  model: ModelRef | null
  fallbacks: ModelRef[]
  autonomy: Autonomy
  folders: string[]
  maxTurns: string
  maxCostUsd: string
  maxWorkingMinutes: string
  maxToolCalls: string
  /** Empty: no limit. */
  dayUsd: string
  monthUsd: string
}

export type AgentField = keyof AgentForm

const MINUTE_MS = 60_000

export const LIMIT_FIELDS = ['maxCostUsd', 'maxWorkingMinutes', 'maxTurns', 'maxToolCalls'] as const
export type LimitField = (typeof LIMIT_FIELDS)[number]

const BOUNDS: Record<LimitField, { min: number; max: number; isInteger: boolean }> = {
  maxTurns: { min: 1, max: 1000, isInteger: true },
  maxCostUsd: { min: 0.01, max: 1000, isInteger: false },
  maxWorkingMinutes: { min: 1, max: 24 * 60, isInteger: false },
  maxToolCalls: { min: 0, max: 10_000, isInteger: true },
}

export const BUDGET_FIELDS = ['dayUsd', 'monthUsd'] as const
const BUDGET_BOUNDS = { min: 0.01, max: 100_000 }

export const DEFAULT_LIMIT_FIELDS = limitFields(DEFAULT_LIMITS)

function limitFields(limits: Agent['limits']): Pick<AgentForm, LimitField> {
  return {
    maxTurns: String(limits.maxTurns),
    maxCostUsd: fieldText(limits.maxCostUsd, locale()),
    maxWorkingMinutes: fieldText(limits.maxWorkingMs / MINUTE_MS, locale()),
    maxToolCalls: String(limits.maxToolCalls),
  }
}

export function formOf(agent: Agent | null): AgentForm {
  return {
    name: agent?.name ?? '',
    avatar: agent?.avatar ?? '',
    instructions: agent?.instructions ?? '',
    model: agent?.model ?? null,
    fallbacks: [...(agent?.fallbacks ?? [])],
    autonomy: agent?.autonomy ?? 'ask_when_it_matters',
    folders: [...(agent?.folders ?? [])],
    ...limitFields(agent?.limits ?? DEFAULT_LIMITS),
    dayUsd: fieldText(agent?.budgets.dayUsd, locale()),
    monthUsd: fieldText(agent?.budgets.monthUsd, locale()),
  }
}

export function bodyOf(form: AgentForm): CreateAgent {
  return {
    name: form.name.trim(),
    avatar: form.avatar.trim() === '' ? null : form.avatar.trim(),
    instructions: form.instructions,
    model: form.model,
    fallbacks: form.fallbacks,
    autonomy: form.autonomy,
    folders: form.folders,
    limits: {
      maxTurns: readNumber(form.maxTurns, locale()),
      maxCostUsd: readNumber(form.maxCostUsd, locale()),
      maxWorkingMs: Math.round(readNumber(form.maxWorkingMinutes, locale()) * MINUTE_MS),
      maxToolCalls: readNumber(form.maxToolCalls, locale()),
    },
    budgets: { dayUsd: budgetOf(form.dayUsd), monthUsd: budgetOf(form.monthUsd) },
  }
}

function budgetOf(text: string): number | null {
  return text.trim() === '' ? null : readNumber(text, locale())
}

/** The problems that can be found before anything is sent. */
export function problemsOf(form: AgentForm, locale: string): Partial<Record<AgentField, string>> {
  const problems: Partial<Record<AgentField, string>> = {}
  if (form.name.trim() === '') problems.name = t('agents.problems.nameMissing')
  else if (form.name.trim().length > 120) problems.name = t('agents.problems.nameLong')
  if ([...form.avatar.trim()].length > MAX_AVATAR_CHARS) problems.avatar = t('agents.problems.avatarLong')
  if (form.instructions.length > 100_000) problems.instructions = t('agents.problems.instructionsLong')
  const show = new Intl.NumberFormat(locale)
  for (const field of LIMIT_FIELDS) {
    const { min, max, isInteger } = BOUNDS[field]
    const value = readNumber(form[field], locale)
    if (!Number.isFinite(value)) problems[field] = t('agents.problems.number')
    else if (isInteger && !Number.isInteger(value)) problems[field] = t('agents.problems.whole')
    else if (value < min || value > max) problems[field] = t('agents.problems.between', { min: show.format(min), max: show.format(max) })
  }
  for (const field of BUDGET_FIELDS) {
    const value = budgetOf(form[field])
    if (value === null) continue
    if (!Number.isFinite(value)) problems[field] = t('agents.problems.number')
    else if (value < BUDGET_BOUNDS.min || value > BUDGET_BOUNDS.max) {
      problems[field] = t('agents.problems.between', { min: show.format(BUDGET_BOUNDS.min), max: show.format(BUDGET_BOUNDS.max) })
    }
  }
  return problems
}

/** The field that an issue of the runner is about. */
export function fieldOfIssue(path: string): AgentField | null {
  const [first, second] = path.replace(/^body\./, '').split('.')
  if (first === 'limits') return second === 'maxWorkingMs' ? 'maxWorkingMinutes' : (LIMIT_FIELDS.find((field) => field === second) ?? null)
  if (first === 'budgets') return BUDGET_FIELDS.find((field) => field === second) ?? null
  const fields: AgentField[] = ['name', 'avatar', 'instructions', 'model', 'fallbacks', 'autonomy', 'folders']
  return fields.find((field) => field === first) ?? null
}
