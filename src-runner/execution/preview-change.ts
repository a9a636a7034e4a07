import type { Database } from '../platform/db/database.ts'
import type { FileDiff } from '../contract/files.ts'
import { getAgent } from '../domain/agents/agents.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import { diffTexts } from '../domain/files/unified-diff.ts'
import { closedFoldersOf, type RuleSet } from '../domain/rules/rule-set.ts'
import { nameFolders, PathRefused } from '../agent/files/folder-paths.ts'
import { decodeFile } from '../agent/files/text-of-file.ts'
import type { FilePreview, Tool } from '../agent/tools/tool.ts'

export type PreviewDeps = {
  db: Database
  approvals: Pick<ApprovalStore, 'get'>
  tools: () => readonly Tool[]
  rules: { read(): RuleSet }
  dataDir: string
}

/**
 * The change that the call of a pending approval would make now, as a diff. null: it changes no file, or cannot work. Throws
 * AppError approval_not_found.
 */
export async function previewChange(deps: PreviewDeps, approvalId: string): Promise<FileDiff | null> {
  const { db, approvals, tools, rules, dataDir } = deps
  const approval = approvals.get(db, approvalId)
  const tool = tools().find(({ name }) => name === approval.tool)
  const args = tool?.args.safeParse(approval.args)
  if (approval.status !== 'pending' || approval.kind !== 'tool' || tool?.preview === undefined || args?.success !== true) return null
  const agent = getAgent(db, approval.agentId)
  try {
    const preview = await tool.preview(args.data, {
      jobId: approval.jobId,
      agentId: agent.id,
      callId: approval.callId ?? '',
      folders: agent.folders,
      signal: new AbortController().signal,
      closedFolders: [dataDir, ...closedFoldersOf(rules.read(), agent.id, nameFolders(agent.folders))],
    })
    return diffOf(preview)
  } catch (thrown) {
    if (thrown instanceof PathRefused) return null
    throw thrown
  }
}

function diffOf({ path, before, after }: FilePreview): FileDiff {
  const head = { path, change: before === null ? ('added' as const) : ('modified' as const) }
  // Too large to show, or not a text.
  const old = before === null ? '' : before.bytes && decodeFile(before.bytes)
  const now = decodeFile(after)
  if (old === null || now === null) return { ...head, diff: '', truncated: false, binary: true }
  const { text, truncated } = diffTexts({ before: before === null ? '/dev/null' : `a/${path}`, after: `b/${path}` }, old, now)
  return { ...head, diff: text, truncated, binary: false }
}
