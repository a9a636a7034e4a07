import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolContext, ToolFacts } from '../tools/tool.ts'
import { nameFolders, parsePath, showPlace } from './folder-paths.ts'

const VERBS = { read: 'Read', search: 'Search', list: 'List' }

/**
 * What a call does that only looks at one place in the agent's folders, or at all of them. The paths are those that links
 * lead to, so that a rule for a folder holds whatever way leads into it.
 */
export async function readingFacts(path: string | undefined, does: 'read' | 'search' | 'list', context: ToolContext): Promise<ToolFacts> {
  const named = nameFolders(context.folders, context)
  const place = parsePath(path ?? '', named)
  const places = place === null ? named.map((folder) => ({ folder, parts: [] })) : [place]
  const subject = places.map(showPlace).join(', ')
  return {
    subject,
    summary: `${VERBS[does]} ${subject}`,
    effectOn: { code: does, path: subject },
    paths: await Promise.all(places.map(({ folder, parts }) => whereItLeads(join(folder.path, ...parts)))),
    ...{ leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false },
  }
}

/** A place that is not there is refused by the tool, in its own words. */
function whereItLeads(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}
