import type { TextKey } from '../../../resources/locales/texts.ts'
import { type Starter, STARTERS } from '../../features/agents/starters.ts'

/** Suggestions for the first job, for each starter and for an agent without a folder. */
export const FIRST_PROMPTS: Record<Starter | 'none', readonly TextKey[]> = {
  guide: ['welcome.job.prompts.guide.overview', 'welcome.job.prompts.guide.contents', 'welcome.job.prompts.guide.money'],
  notes: ['welcome.job.prompts.notes.summary', 'welcome.job.prompts.notes.topics', 'welcome.job.prompts.notes.questions'],
  editor: ['welcome.job.prompts.editor.rank', 'welcome.job.prompts.editor.proofread', 'welcome.job.prompts.editor.readability'],
  none: ['welcome.job.prompts.none.abilities', 'welcome.job.prompts.none.introduction'],
}

const STORED_AS = 'deckhand.first-agent'

/** The first agent and its starter. The last step needs both, also after a reload. */
export function rememberFirstAgent(agentId: string, starter: Starter, hasFolder: boolean): void {
  localStorage.setItem(STORED_AS, JSON.stringify({ agentId, starter, hasFolder }))
}

export function readFirstAgent(): { agentId: string; starter: Starter; hasFolder: boolean } | null {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null') as {
      agentId?: unknown
      starter?: unknown
      hasFolder?: unknown
    } | null
    const starter = STARTERS.find((one) => one === stored?.starter)
    if (typeof stored?.agentId !== 'string' || starter === undefined) return null
    return { agentId: stored.agentId, starter, hasFolder: stored.hasFolder === true }
  } catch {
    return null
  }
}
