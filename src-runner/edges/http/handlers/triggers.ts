import { AppError } from '../../../kit/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes =
  | 'listTriggers'
  | 'createTrigger'
  | 'previewTemplate'
  | 'getTrigger'
  | 'deleteTrigger'
  | 'pauseTrigger'
  | 'resumeTrigger'
  | 'rotateTriggerSecret'
  | 'testTrigger'
  | 'listDeliveries'
  | 'getDelivery'
  | 'replayDelivery'

export function triggerHandlers(_deps: HandlerDeps): Pick<Handlers, Routes> {
  const notYet = () => {
    throw new AppError('internal', 'Not there yet.')
  }
  return {
    listTriggers: notYet,
    createTrigger: notYet,
    previewTemplate: notYet,
    getTrigger: notYet,
    deleteTrigger: notYet,
    pauseTrigger: notYet,
    resumeTrigger: notYet,
    rotateTriggerSecret: notYet,
    testTrigger: notYet,
    listDeliveries: notYet,
    getDelivery: notYet,
    replayDelivery: notYet,
  }
}
