import { commitSoon } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import type { Memory } from '../contract/memory.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import { isInDefaultEntity } from '../domain/agents/agents.ts'
import { recordJobMemories } from '../domain/memory/job-memories.ts'
import { createMemory, deleteMemory, findMemory, recallMemories } from '../domain/memory/memories.ts'
import type { AgentMemory } from '../agent/tools/tool.ts'
import { commitClaimed, type ClaimedDeps } from './commit-claimed.ts'

const PROMPT_CHARS = 4_000
const PROMPT_MEMORIES = 100

type MemoryDeps = ClaimedDeps & Pick<Services, 'clock' | 'ids'>

/** `isUntrusted`: whether the job has read untrusted text by now. */
export function createAgentMemory(
  deps: MemoryDeps,
  { claim, agentId, isUntrusted }: { claim: Claim; agentId: string; isUntrusted: () => boolean },
): AgentMemory {
  const { db } = deps
  const { jobId } = claim
  const shares = () => isInDefaultEntity(db, agentId)
  const isVisible = (memory: Memory) => (memory.agentId === null ? shares() : memory.agentId === agentId)
  return {
    remember: (callId, { text, shared }) =>
      commitClaimed(deps, claim, (tx) => {
        const writer = { agentId, jobId, callId }
        return createMemory(tx, deps, { agentId: shared && shares() ? null : agentId, text, writer, untrusted: isUntrusted() })
      }),

    recall: (_callId, { query, limit }) =>
      commitClaimed(deps, claim, (tx) => {
        const recalled = recallMemories(tx, { agentId, query, limit })
        recordJobMemories(tx, deps, jobId, 'recall', recalled.found)
        return recalled
      }),

    find(memoryId) {
      const memory = findMemory(db, memoryId)
      return memory !== null && isVisible(memory) ? memory : null
    },

    forget: (memoryId) =>
      commitClaimed(deps, claim, (tx) => {
        const memory = findMemory(tx, memoryId)
        if (memory === null || !isVisible(memory)) return false
        deleteMemory(tx, memoryId)
        return true
      }),
  }
}

export type PromptMemory = { text: string; shared: boolean }

/**
 * The newest memories that fit into the prompt, oldest first. Never those written after reading untrusted text: a prompt is
 * the person's voice. `recall` finds them, marked.
 */
export async function takePromptMemories(
  deps: Omit<MemoryDeps, 'jobs' | 'ids'>,
  jobId: string,
  agentId: string,
): Promise<{ memories: PromptMemory[]; hasMore: boolean }> {
  const { db } = deps
  const { found, total } = recallMemories(db, { agentId, query: '', limit: PROMPT_MEMORIES, trustedOnly: true })
  const taken: Memory[] = []
  let chars = 0
  for (const memory of found) {
    chars += memory.text.length
    if (chars > PROMPT_CHARS) break
    taken.push(memory)
  }
  if (taken.length > 0) await commitSoon(db, (tx) => recordJobMemories(tx, deps, jobId, 'prompt', taken))
  return { memories: taken.reverse().map(({ text, agentId: owner }) => ({ text, shared: owner === null })), hasMore: total > taken.length }
}
