import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { CodeTaskCommand, CodeTaskFile, CodeTaskLeftOut, CodeTaskResult } from '../../contract/code-tasks.ts'
import { CodingCli } from '../../contract/coding-programs.ts'
import { checks, count, flag, indexWhere, jsonArray, moment, oneOf } from '../../platform/db/column-types.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const codeTasks = sqliteTable(
  'code_tasks',
  {
    jobSeq: integer('job_seq')
      .primaryKey()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
    cli: oneOf('cli', CodingCli.options).notNull(),
    repository: text('repository').notNull(),
    branch: text('branch').notNull(),
    baseCommit: text('base_commit').notNull(),
    baseBranch: text('base_branch'),
    internet: flag('internet').notNull(),
    sandboxed: flag('sandboxed').notNull().default(true),
    // Where it works. NULL: not made yet, or removed.
    folder: text('folder'),
    folderRemovedAt: moment('folder_removed_at'),
    sizeBytes: count('size_bytes'),
    // The program's own name of the conversation, to continue it in another process. NULL: it cannot be continued.
    sessionId: text('session_id'),
    // How often the program was asked to work. What the program tells of its use counts from there.
    prompts: count('prompts').notNull().default(0),
    // The program has said that it is done.
    turnEndedAt: moment('turn_ended_at'),
    result: oneOf('result', CodeTaskResult.options).notNull().default('none'),
    files: jsonArray('files', z.array(CodeTaskFile)).notNull(),
    fileCount: count('file_count').notNull().default(0),
    additions: count('additions').notNull().default(0),
    deletions: count('deletions').notNull().default(0),
    commands: jsonArray('commands', z.array(CodeTaskCommand)).notNull(),
    leftOut: jsonArray('left_out', z.array(CodeTaskLeftOut)).notNull().default([]),
    // When everything that the program left was committed, after it was gone. NULL: the folder may have more than the branch.
    savedAt: moment('saved_at'),
  },
  (t) => [
    ...checks(t, 'folder IS NULL OR folder_removed_at IS NULL'),
    // Folders to measure and to clean up.
    indexWhere('code_tasks_with_folder', [t.jobSeq], 'folder IS NOT NULL'),
  ],
)
