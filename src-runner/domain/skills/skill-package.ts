import { createHash, hash } from 'node:crypto'
import type { Message } from '../../contract/messages.ts'
import type { PackedFile } from '../../platform/archives/archive-entries.ts'

/** The files of one skill, by path, in memory: nothing is written before all of them are known and accepted. */
export type SkillPackage = { files: readonly PackedFile[]; digest: string }

/** The skill or its source cannot be used. The detail is for people. */
export class SkillRefused extends Error {
  override readonly name = 'SkillRefused'
  readonly detail: Message

  constructor(detail: Message) {
    super(detail.code)
    this.detail = detail
  }
}

/** The digest counts paths and contents. No order, date or mode of an archive changes it. */
export function packSkill(files: readonly PackedFile[]): SkillPackage {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const digest = createHash('sha256')
  for (const { path, bytes } of sorted) digest.update(`${hash('sha256', bytes, 'hex')} ${bytes.length} ${path}\n`)
  return { files: sorted, digest: `sha256:${digest.digest('hex')}` }
}

const SCRIPT_NAME = /\.(sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|psm1|bat|cmd|vbs|applescript|r|jl|go|rs|exe|jar|com)$/i

/** By its name, its place or its first line. */
export function isScript({ path, bytes }: PackedFile): boolean {
  if (path.startsWith('scripts/') && !/\.(md|txt|json|ya?ml|toml|csv|xml|xsd|html|css|png|svg|ttf|license)$/i.test(path)) return true
  return SCRIPT_NAME.test(path) || bytes.subarray(0, 2).toString('latin1') === '#!' || isNativeProgram(bytes)
}

const NATIVE = ['7f454c46', '4d5a', 'feedface', 'feedfacf', 'cefaedfe', 'cffaedfe', 'cafebabe', '0061736d']

export function isNativeProgram(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 4).toString('hex')
  return NATIVE.some((magic) => head.startsWith(magic))
}

/** null: it is not text. */
export function textOf({ bytes }: PackedFile): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
