import { CallMatter, type CallFacts } from '../../contract/rules.ts'

/** What makes this call one that matters. */
export function mattersOf(facts: CallFacts): CallMatter[] {
  const does: Record<CallMatter, boolean> = {
    leaves_machine: facts.leavesMachine,
    costs_money: facts.costsMoney,
    deletes: facts.deletes,
    overwrites: facts.overwrites,
    runs_code: facts.runsCode && facts.runsLater !== true,
    runs_later: facts.runsLater === true,
  }
  return CallMatter.options.filter((matter) => does[matter])
}
