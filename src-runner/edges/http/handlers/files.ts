import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function fileHandlers({ files }: HandlerDeps): Pick<Handlers, 'listJobFiles' | 'getFileDiff' | 'undoFile'> {
  return {
    listJobFiles: async ({ params }) => ({ files: await files.list(params.jobId) }),
    getFileDiff: ({ params, query }) => files.diff(params.jobId, query.path, query.callId),
    undoFile: async ({ params, body }) => ({ file: await files.undo(params.jobId, body.path, body.force) }),
  }
}
