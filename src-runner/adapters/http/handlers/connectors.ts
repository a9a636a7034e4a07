import type { Handlers } from '../handler.ts'
import { listConnectors } from '../../../domain/connectors/connectors.ts'
import type { HandlerDeps } from './deps.ts'

export function connectorHandlers({ authorizations }: HandlerDeps) {
  return {
    listConnectors: () => ({
      connectors: listConnectors().map((connector) => ({
        ...connector,
        redirectUri: connector.kind === 'oauth2' ? authorizations.redirectUriOf({ connector: connector.slug, mcpServerId: null }) : null,
      })),
    }),
  } satisfies Partial<Handlers>
}
