import { AppError } from '../../../kit/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'getDoctor'

export function doctorHandlers(_deps: HandlerDeps): Pick<Handlers, Routes> {
  const notYet = () => {
    throw new AppError('internal', 'Not there yet.')
  }
  return { getDoctor: notYet }
}
