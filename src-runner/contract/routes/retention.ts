import { z } from 'zod'
import { KeptDays, Retained, RetentionKind } from '../retention.ts'
import { get, post } from './route.ts'

export const retentionRoutes = {
  getRetained: get('/api/retention', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'How much there is of a kind, and how much of it a time to keep (days; absent: forever) would delete now.',
    query: z.object({ kind: RetentionKind, days: z.coerce.number().pipe(KeptDays.unwrap()).optional() }),
    answer: Retained,
    shows: ['settings', 'retention'],
  }),
  deleteDue: post('/api/retention/delete', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Delete what is older than its time to keep now instead of when Deckhand is idle. It goes on after the answer.',
    body: z.object({ kind: RetentionKind }),
    status: 202,
    answer: z.object({ ok: z.literal(true), status: z.literal('accepted') }),
  }),
}
