import type { Handlers } from '../handler.ts'
import { listConnectors } from '../../../domain/connectors/connectors.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import type { HandlerDeps } from './deps.ts'

export function connectorHandlers({ authorizations }: HandlerDeps) {
  return {
    listConnectors({ query }) {
      const { items, nextCursor } = pageOfList(listConnectors(), query, ({ slug }) => slug)
      const connectors = items.map((connector) => ({
        ...connector,
        redirectUri: connector.kind === 'oauth2' ? authorizations.redirectUriOf({ connector: connector.slug, mcpServerId: null }) : null,
      }))
      return { connectors, nextCursor }
    },
  } satisfies Partial<Handlers>
}
