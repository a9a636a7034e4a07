import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function publicAddressHandlers({ publicAddress }: HandlerDeps) {
  return {
    getPublicAddress: () => ({ publicAddress: publicAddress.read() }),
    updatePublicAddress: async ({ body }) => ({ publicAddress: await publicAddress.update(body) }),
    checkPublicAddress: async () => ({ publicAddress: await publicAddress.check() }),
    startTunnel: async ({ body }) => ({ publicAddress: await publicAddress.startTunnel(body.program) }),
    stopTunnel: async () => ({ publicAddress: await publicAddress.stopTunnel() }),
  } satisfies Partial<Handlers>
}
