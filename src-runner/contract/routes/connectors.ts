import { z } from 'zod'
import { ListedConnector } from '../connectors.ts'
import { get } from './route.ts'

export const connectorRoutes = {
  listConnectors: get('/api/connectors', {
    reach: 'neutral',
    summary: 'The services that agents can be connected to, sorted by name, the general ones last, and the redirect URI that each expects.',
    answer: z.object({ connectors: z.array(ListedConnector) }),
  }),
}
