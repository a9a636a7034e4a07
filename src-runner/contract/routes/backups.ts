import { z } from 'zod'
import { Backup, BackupState } from '../backups.ts'
import { get, post } from './route.ts'

export const backupRoutes = {
  listBackups: get('/api/backups', {
    reach: 'machine',
    summary: 'The backups of the database, the newest first, and why the last one failed.',
    answer: BackupState,
    shows: ['settings'],
  }),
  makeBackup: post('/api/backups', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Back the database up now. The answer comes when the backup was opened and checked.',
    status: 201,
    answer: z.object({ backup: Backup }),
    errors: ['backup_failed'],
  }),
}
