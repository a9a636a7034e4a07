import type { DatabaseTrouble } from '../../../src-runner/contract/database.ts'
import type { AttentionAbout } from '../../../src-runner/contract/notifications.ts'
import type { DoctorFinding, DoctorFix, LeftOutWhy } from '../../../src-runner/contract/doctor.ts'
import type { ErrorCode, IssueKind } from '../../../src-runner/contract/errors.ts'
import type { CallChange, CallEffect, CallMatter, MarkCause, VoiceReason } from '../../../src-runner/contract/rules.ts'
import type { Facts, SaidCode } from '../../../src-runner/contract/said.ts'

/** A sentence for each kind of thing that the runner can tell of. Without one for each, a catalogue does not compile. */
export type SaidWords = { [C in SaidCode]: (facts: Facts<C>) => string }
/** One is for an answer that none of our servers gives. */
export type ErrorWords = Record<ErrorCode | 'unexpected_answer', string>
export type IssueWords = Record<IssueKind, (limit: string) => string>

/** Parts of facts are words already when a sentence is made of them: `why` is a sentence, `bytes` is "2 kB". */
type Text<F> = { [K in keyof F as Exclude<K, 'code' | 'kind'>]: F[K] extends number | null | undefined ? string : F[K] }

export type PolicyWords = {
  matters: Record<CallMatter, string>
  voices: {
    [C in VoiceReason['code']]: (facts: {
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
  causes: { [C in MarkCause['code']]: (facts: { tool: string; channel: string }) => string }
  effects: { [C in CallEffect['code']]: (facts: EffectTexts<C>) => string }
  lost: string
}
type EffectTexts<C extends CallEffect['code']> = Text<Omit<Extract<CallEffect, { code: C }>, 'lost' | 'why'>> & { why: string }

export type AttentionWords = {
  [K in Exclude<AttentionAbout['kind'], 'database_trouble'>]: {
    title: (facts: AttentionTexts<K>) => string
    /** What stands under it where the runner has no sentence of its own for it. */
    detail: (facts: AttentionTexts<K>) => string
  }
}
type AttentionTexts<K extends AttentionAbout['kind']> = Omit<Extract<AttentionAbout, { kind: K }>, 'kind'> & { why: string; money: string }

export type DatabaseTroubleWords = Record<DatabaseTrouble, { title: string; detail: string; fix: string }>

export type DoctorWords = {
  findings: { [C in DoctorFinding['code']]: (facts: FindingTexts) => string }
  waiting: (count: number) => string
  fixes: Record<Exclude<DoctorFix, 'box'>, string>
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
  box: string
  /** Folders in which a person's own programs are. */
  used: string
  /** Folders that were left out, each with why. */
  leftOut: string
  shell: string
}
