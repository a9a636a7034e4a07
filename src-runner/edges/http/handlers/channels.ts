import { AppError } from '../../../kit/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'listChannels' | 'createChannel' | 'getChannel' | 'updateChannel' | 'deleteChannel' | 'updateChannelPerson' | 'testChannel'

export function channelHandlers(_deps: HandlerDeps): Pick<Handlers, Routes> {
  const notYet = () => {
    throw new AppError('internal', 'Not there yet.')
  }
  return {
    listChannels: notYet,
    createChannel: notYet,
    getChannel: notYet,
    updateChannel: notYet,
    deleteChannel: notYet,
    updateChannelPerson: notYet,
    testChannel: notYet,
  }
}
