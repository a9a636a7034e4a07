import { MAX_MISSING_CHARS, MAX_MISSING_SHOWN } from '../../contract/triggers.ts'
import { letterOf } from '../jobs/envelope.ts'
import type { ReadDelivery } from './taking.ts'
import { renderTemplate } from './template.ts'

/** What the agent is given for a payload, and the first few placeholders that the payload does not fill. */
export function taskFor(template: string, payload: unknown): Pick<ReadDelivery, 'task' | 'missing'> {
  const rendered = renderTemplate(template, payload)
  const missing = rendered.placeholders.filter(({ state }) => state === 'missing').slice(0, MAX_MISSING_SHOWN)
  return { task: letterOf(template, rendered), missing: missing.map(({ path }) => path.slice(0, MAX_MISSING_CHARS)) }
}
