import type { LoopDeps } from '../thinking/loop/loop-types.ts'

/** Lets run what changes nothing, and nothing else: until a person has rules, nobody could say yes to the rest. */
export const readOnlyGate: LoopDeps['gate'] = async ({ tool }) =>
  tool.effect === 'read' ? { verdict: 'run' } : { verdict: 'deny', reason: `${tool.name} changes something, and nobody has allowed that.` }
