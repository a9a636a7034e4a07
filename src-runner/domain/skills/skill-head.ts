import type { SkillHead } from '../../contract/skills.ts'
import { isReservedName } from '../../platform/archives/portable-path.ts'
import { createMessage } from '../../lib/messages.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { readFrontMatter, type FrontMatter } from './front-matter.ts'
import { SkillRefused, textOf, type SkillPackage } from './skill-package.ts'

export const SKILL_FILE = 'SKILL.md'

const MAX_NAME = 64
/** The specification says 1,024, and published skills have more. What a model reads is cut there. */
const MAX_DESCRIPTION = 4_000
const MAX_COMPATIBILITY = 500
const MAX_OTHER = 300
const MAX_TOOLS = 100
const MAX_TEXT_CHARS = 500_000
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** The name of a skill by the Agent Skills specification (https://agentskills.io/specification). No path is ever made of it. */
export function isSkillName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text) && !isReservedName(text)
}

/** Throws SkillRefused if `SKILL.md` is missing or does not follow the specification. */
export function readSkillHead({ files }: Pick<SkillPackage, 'files'>): { head: SkillHead; body: string; text: string } {
  const file = files.find(({ path }) => path === SKILL_FILE)
  const text = file === undefined ? null : textOf(file)
  if (text === null || text.length > MAX_TEXT_CHARS) throw new SkillRefused(createMessage('skill_file_missing'))
  const { front, body } = readFrontMatter(text)
  const name = scalar(front, 'name', MAX_NAME)
  const description = visibleText(scalar(front, 'description', MAX_DESCRIPTION) ?? '').trim()
  if (name === null || !isSkillName(name)) throw new SkillRefused(createMessage('skill_field_invalid', { field: 'name' }))
  if (description === '') throw new SkillRefused(createMessage('skill_field_invalid', { field: 'description' }))
  const metadata = front.get('metadata')
  const note = (key: string) => (metadata instanceof Map ? clean(metadata.get(key) ?? null) : null)
  const head: SkillHead = {
    name,
    description,
    license: clean(scalar(front, 'license', MAX_DESCRIPTION)),
    compatibility: clean(scalar(front, 'compatibility', MAX_COMPATIBILITY)),
    author: note('author'),
    version: note('version'),
    allowedTools: toolsOf(front),
  }
  return { head, body, text }
}

function scalar(front: FrontMatter, field: string, most: number): string | null {
  const value = front.get(field)
  if (value === undefined || value === '') return null
  if (typeof value !== 'string' || value.length > most) throw new SkillRefused(createMessage('skill_field_invalid', { field }))
  return value
}

function clean(text: string | null): string | null {
  const visible = visibleText(text ?? '')
    .trim()
    .slice(0, MAX_COMPATIBILITY)
  return visible === '' ? null : visible
}

/** Separated by spaces, as the specification has it, or by commas, or a list. `Bash(git:*)` is one. */
function toolsOf(front: FrontMatter): string[] {
  const value = front.get('allowed-tools') ?? ''
  if (value instanceof Map) throw new SkillRefused(createMessage('skill_field_invalid', { field: 'allowed-tools' }))
  const listed = typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\)?)?/g) ?? []) : value
  const tools = [...new Set(listed.map((tool) => visibleText(tool).trim()).filter((tool) => tool !== ''))]
  if (tools.length > MAX_TOOLS || tools.some((tool) => tool.length > MAX_OTHER))
    throw new SkillRefused(createMessage('skill_field_invalid', { field: 'allowed-tools' }))
  return tools
}
