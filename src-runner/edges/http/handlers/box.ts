import type { BoxState } from '../../../base/box/box-types.ts'
import type { Box } from '../../../contract/box.ts'
import { saidAs } from '../../../kit/said.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function boxHandlers({ findBox }: HandlerDeps): Pick<Handlers, 'getBox' | 'checkBox'> {
  return {
    getBox: async () => ({ box: shown(await findBox()) }),
    checkBox: async () => ({ box: shown(await findBox({ again: true })) }),
  }
}

/** Without what only the box itself has to know. */
function shown({ kind, works, reason, advice, network, checkedAt }: BoxState): Box {
  return { kind, works, ...withSaid({ reason, advice }), network: { works: network.works, ...withSaid(network) }, checkedAt }
}

function withSaid({ reason, advice }: Pick<Box, 'reason' | 'advice'>): Pick<Box, 'reason' | 'advice' | 'reasonSaid' | 'adviceSaid'> {
  return { reason, advice, ...saidAs('reasonSaid', reason), ...saidAs('adviceSaid', advice) }
}
