import { AppError } from '../../../kit/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'getPublicAddress' | 'updatePublicAddress' | 'checkPublicAddress' | 'startTunnel' | 'stopTunnel'

export function publicAddressHandlers(_deps: HandlerDeps): Pick<Handlers, Routes> {
  const notYet = () => {
    throw new AppError('internal', 'Not there yet.')
  }
  return { getPublicAddress: notYet, updatePublicAddress: notYet, checkPublicAddress: notYet, startTunnel: notYet, stopTunnel: notYet }
}
