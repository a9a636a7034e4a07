import { z } from 'zod'
import { ListedConnector } from '../connectors.ts'
import { NextCursor, ShortListQuery } from '../primitives.ts'
import { get } from './route.ts'

export const connectorRoutes = {
  listConnectors: get('/api/connectors', {
    reach: 'neutral',
    summary: 'The services that agents can be connected to, sorted by name, the general ones last, and the redirect URI that each expects.',
    query: ShortListQuery,
    answer: z.object({ connectors: z.array(ListedConnector), nextCursor: NextCursor }),
  }),
}
