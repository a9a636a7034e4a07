import type { DatabaseTrouble } from '../../../src-runner/contract/database.ts'
import type { HealthFinding, HealthFix, LeftOutWhy } from '../../../src-runner/contract/doctor.ts'
import type { CallChange, CallRisk, TaintCause, TraceReason } from '../../../src-runner/contract/rules.ts'

export type PolicyWords = {
  matters: Record<CallRisk, string>
  trace: {
    [C in TraceReason['code']]: (facts: {
      untrusted: string
      private: string
      tool: string
      rule: string
      matters: string
      change: string
    }) => string
  }
  /** How a call got worse since it was approved: the end of a sentence. */
  changes: Record<CallChange, string>
  /** Before the sentence of a rule or level of the agent that handed the work on. */
  onBehalfOf: (facts: { agent: string; said: string }) => string
  causes: { [C in TaintCause['code']]: (facts: { tool: string; channel: string }) => string }
}

export type DatabaseTroubleWords = Record<DatabaseTrouble, { title: string; detail: string; fix: string }>

export type HealthWords = {
  findings: { [C in HealthFinding['code']]: (facts: FindingTexts) => string }
  waiting: (count: number) => string
  fixes: Record<Exclude<HealthFix, 'sandbox'>, string>
  /** Why a folder is none in which agents find programs. */
  leftOut: Record<LeftOutWhy, string>
}
/** What findings are about, in words. `why`: a sentence, or several. */
export type FindingTexts = {
  why: string
  names: string
  count: number
  size: string
  logSize: string
  folder: string
  url: string
  sandbox: string
  /** Folders in which a person's user toolchain are. */
  used: string
  /** Folders that were left out, each with why. */
  leftOut: string
  shell: string
}
