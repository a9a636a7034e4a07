import { z } from 'zod'
import { Connector } from '../connectors.ts'
import { get } from './route.ts'

export const connectorRoutes = {
  listConnectors: get('/api/connectors', {
    reach: 'neutral',
    summary: 'The services that agents can be connected to, sorted by name, the general ones last. The same until Deckhand is updated.',
    answer: z.object({ connectors: z.array(Connector) }),
  }),
}
