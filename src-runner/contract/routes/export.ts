import { z } from 'zod'
import { ExportHead, HistoryImport, HistoryLine, ImportResult, MAX_HEAD_CHARS, MAX_HISTORY_BYTES, Setup } from '../export.ts'
import { get, post } from './route.ts'

export const exportRoutes = {
  exportSetup: get('/api/export', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'Agents, webhooks, schedules, rules, memories, connections, skills and settings, without secrets: the first line of an export file.',
    answer: ExportHead.extend({ setup: Setup }),
  }),
  exportHistory: get('/api/export/history', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Conversations, then jobs with their steps, a few at a time: the other lines of an export file.',
    query: z.object({ cursor: z.string().max(500).optional() }),
    answer: z.object({ lines: z.array(HistoryLine), nextCursor: z.string().nullable() }),
  }),
  importSetup: post('/api/import', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'Make what an export file sets up, with new ids, all or nothing. Webhooks get new secrets, and they and schedules are paused. `dryRun` only says what would be made.',
    body: z.object({ head: ExportHead, dryRun: z.boolean() }),
    maxBodyBytes: 2 * MAX_HEAD_CHARS,
    answer: z.object({ result: ImportResult }),
    errors: ['import_refused', 'trigger_slug_taken', 'memory_full'],
  }),
  importHistory: post('/api/import/history', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'Add conversations and jobs of an export file as finished records, with their ids: what is here already is skipped. All lines or none. Send conversations before jobs, in the order of the file.',
    body: z.object({ lines: z.array(z.unknown()).max(500) }),
    maxBodyBytes: MAX_HISTORY_BYTES,
    answer: z.object({ result: HistoryImport }),
    errors: ['import_refused'],
  }),
}
