import { z } from 'zod'
import { routeTable } from './route.ts'

export const eventRoutes = routeTable({
  streamEvents: {
    method: 'GET',
    path: '/api/events',
    gate: 'runner',
    summary:
      'What happened, as server-sent events; go on with Last-Event-ID. Without it: from now on. At most the newest 2,000 are repeated; if there is a gap in the ids, read the lists again.',
    query: z.object({ after: z.coerce.number().int().min(0).optional() }),
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request'],
  },
})
