import type { Memory } from '../../contract/memory.ts'

/** What one agent remembers, with what all agents share. Nothing of other agents is seen or changed here. */
export type AgentMemory = {
  /** On disk when it resolves. The same call again answers the same memory. Throws when there is no more room. */
  remember(callId: string, note: { text: string; shared: boolean }): Promise<Memory>
  /** The most fitting first; without words to look for, the newest. Records that the job has read them. */
  recall(callId: string, look: { query: string; limit: number }): Promise<{ found: Memory[]; total: number }>
  find(memoryId: string): Memory | null
  /** false: there is no such memory. */
  forget(memoryId: string): Promise<boolean>
  /** Whether this agent wrote it itself. */
  isOwn(memory: Memory): boolean
}
