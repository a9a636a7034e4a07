import { setImmediate as breathe } from 'node:timers/promises'
import type { SkillFileChange } from '../../contract/skills.ts'
import type { z } from 'zod'
import { diffTexts } from '../files/unified-diff.ts'
import { revealText } from './examine-skill.ts'
import { isScript, textOf, type SkillPackage } from './skill-package.ts'

/** All diffs together. */
const MAX_DIFF_CHARS = 1_000_000
/** A larger text is shown nowhere, and it would take time of the one thread that runs all jobs. */
const MAX_TEXT_BYTES = 1_000_000

/** By path. `before` null: its files are gone, so every file is new. */
export async function compareSkills(before: SkillPackage | null, after: SkillPackage) {
  const old = new Map((before?.files ?? []).map((file) => [file.path, file]))
  const now = new Map(after.files.map((file) => [file.path, file]))
  let room = MAX_DIFF_CHARS
  const changes: z.infer<typeof SkillFileChange>[] = []
  let scriptsChanged = false
  for (const path of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [from, to] = [old.get(path), now.get(path)]
    if (from !== undefined && to !== undefined && from.bytes.equals(to.bytes)) continue
    scriptsChanged ||= [from, to].some((file) => file !== undefined && isScript(file))
    const [left, right] = [from, to].map((file) => (file === undefined ? '' : file.bytes.length > MAX_TEXT_BYTES ? null : textOf(file)))
    await breathe()
    const diff =
      left == null || right == null || room <= 0 ? '' : diffTexts({ before: path, after: path }, revealText(left), revealText(right)).text
    room -= diff.length
    changes.push({ path, change: from === undefined ? 'added' : to === undefined ? 'deleted' : 'modified', diff })
  }
  return { changes, scriptsChanged }
}
