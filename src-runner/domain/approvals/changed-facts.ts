import type { CallChange, CallFacts } from '../../contract/rules.ts'
import { risksOf } from './call-risks.ts'

/**
 * What got worse about a call since a person approved it, or null if the approval still holds. A call that does less than
 * approved, because the file to replace is gone or there is a sandbox now, is not worse.
 */
export function whatGotWorse(approved: CallFacts, now: CallFacts): CallChange | null {
  if (now.effectOn?.code === 'effect_done_before') return null
  if (approved.sandboxed === true && now.sandboxed === false) return 'no_sandbox'
  if (now.sandboxed === true && now.leavesMachine && !approved.leavesMachine) return 'network'
  if (now.subject !== approved.subject || now.paths.join('\0') !== approved.paths.join('\0')) return 'place'
  if (now.program !== approved.program) return 'program'
  const foundBefore = new Map(approved.found?.map(({ path, mark }) => [path, mark]))
  for (const { path, mark, ofJob } of now.found ?? []) {
    const before = foundBefore.get(path) ?? null
    // What this job wrote there itself was decided when it did.
    if (mark !== null && mark !== before && ofJob !== true) return before === null ? 'appeared' : 'changed'
  }
  if (now.argv !== undefined && now.sandboxed === approved.sandboxed) {
    // For a file that is gone, a program may take another one: a folder of its name, or `build.js` for `build`.
    const foundNow = new Set(now.found?.map(({ path }) => path))
    if (approved.found?.some(({ path }) => !foundNow.has(path))) return 'changed'
  }
  const before = new Set(risksOf(approved))
  return risksOf(now).every((matter) => before.has(matter)) ? null : 'more'
}
