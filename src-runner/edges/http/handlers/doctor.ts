import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function doctorHandlers({ examine }: HandlerDeps): Pick<Handlers, 'getDoctor'> {
  return { getDoctor: async () => ({ checks: await examine() }) }
}
