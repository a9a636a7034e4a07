import type { Handlers } from '../handler.ts'
import { listConnectors } from '../../../domain/connectors/connectors.ts'

export function connectorHandlers() {
  return {
    listConnectors: () => ({ connectors: listConnectors() }),
  } satisfies Partial<Handlers>
}
