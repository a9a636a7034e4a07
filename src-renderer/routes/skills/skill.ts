import type { Skill, SkillFinding } from '../../../src-runner/contract/skills.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'

export const SKILL_TONES = { ready: 'ok', needs_consent: 'warn', changed: 'bad', missing: 'bad', imported: 'accent' } as const

/** Something that only the person can do: look at an update, allow it, or repair the skill. */
export function needsPerson({ status, hasUpdate }: Skill): boolean {
  return status !== 'ready' || hasUpdate
}

/** What needs the person first, then by name. */
export function inOrder(skills: readonly Skill[]): Skill[] {
  return skills.toSorted((one, other) => Number(needsPerson(other)) - Number(needsPerson(one)) || one.name.localeCompare(other.name))
}

/** A source as a person recognises it: an address without its protocol, a folder or a file as it is. */
export function sourceText(source: string): string {
  return visibleText(source.replace(/^(git\+)?https:\/\//, ''))
}

/** Where a skill comes from. */
export function originText({ kind, source }: Pick<Skill, 'kind' | 'source'>): string {
  return kind === 'own'
    ? t('skills.kinds.own')
    : kind === 'file'
      ? t('skills.kinds.file', { file: visibleText(source) })
      : sourceText(source)
}

/** One permission in words. */
export function permissionText(permission: string): string {
  const [kind, name] = splitPermission(permission)
  if (kind === 'scripts') return t('skills.permissions.scripts')
  if (kind === 'tool') return t('skills.permissions.tool', { name })
  if (kind === 'host') return t('skills.permissions.host', { name })
  return visibleText(permission)
}

function splitPermission(permission: string): [string, string] {
  const at = permission.indexOf(':')
  return at === -1 ? [permission, ''] : [permission.slice(0, at), permission.slice(at + 1)]
}

/** The findings by what they are about, in the order of the runner. */
export function groupFindings(findings: readonly SkillFinding[]): [SkillFinding['kind'], SkillFinding[]][] {
  return [...Map.groupBy(findings, ({ kind }) => kind)]
}

export function placeOf({ path, line }: SkillFinding): string {
  return visibleText(line === null ? path : `${path}:${line}`)
}

/** Whether Markdown shows less of a text than a model reads: comments and link definitions are left out. */
export function hidesText(markdown: string): boolean {
  return /<!--/.test(markdown) || /^ {0,3}\[[^\]\n]+\]:/m.test(markdown)
}

/** `SKILL.md` as Markdown: its front matter is a block of code, so that nothing of it is lost. */
export function asMarkdown(text: string): string {
  return text.replace(/^\uFEFF?---\n([\s\S]*?)\n---(?:\n|$)/, (_, front: string) => `\`\`\`\`yaml\n${front}\n\`\`\`\`\n\n`)
}
