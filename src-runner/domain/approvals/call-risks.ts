import { CallRisk, type CallFacts } from '../../contract/rules.ts'

/** Why a person would want to be asked about this call. */
export function risksOf(facts: CallFacts): CallRisk[] {
  const has: Record<CallRisk, boolean> = {
    leaves_machine: facts.leavesMachine,
    costs_money: facts.costsMoney,
    deletes: facts.deletes,
    overwrites: facts.overwrites,
    runs_code: facts.runsCode && facts.runsLater !== true,
    runs_later: facts.runsLater === true,
  }
  return CallRisk.options.filter((risk) => has[risk])
}
