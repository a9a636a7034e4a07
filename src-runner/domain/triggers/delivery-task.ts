import { MAX_MISSING_CHARS, MAX_MISSING_SHOWN } from '../../contract/triggers.ts'
import { wrappedTaskOf } from '../jobs/untrusted-content.ts'
import type { ParsedDelivery } from './accept-deliveries.ts'
import { renderTemplate } from './template.ts'

/** The agent's task for a payload, and the first few placeholders without a value. */
export function taskFor(template: string, payload: unknown): Pick<ParsedDelivery, 'task' | 'missing'> {
  const rendered = renderTemplate(template, payload)
  const missing = rendered.placeholders.filter(({ state }) => state === 'missing').slice(0, MAX_MISSING_SHOWN)
  return { task: wrappedTaskOf(template, rendered), missing: missing.map(({ path }) => path.slice(0, MAX_MISSING_CHARS)) }
}
