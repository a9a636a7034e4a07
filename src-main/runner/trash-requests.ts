import { lstat } from 'node:fs/promises'
import path from 'node:path'
import type { FromRunner, ToRunner } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'

type TrashAsk = Extract<FromRunner, { type: 'trash.ask' }>
type TrashAnswer = Extract<ToRunner, { type: 'trash.answer' }>

/** Moves a file to the system's trash. */
export type MoveToTrash = (path: string) => Promise<void>

/** Moves plain files outside Deckhand's own folder to the trash. Errors go back as text. */
export async function handleTrashRequest(
  move: MoveToTrash | null,
  { requestId, path: file }: TrashAsk,
  dataDir: string,
  log: Log,
): Promise<TrashAnswer> {
  const answer = (message: string | null): TrashAnswer => ({ type: 'trash.answer', requestId, ok: message === null, message })
  if (move === null) return answer('This machine has no trash that Deckhand can use.')
  try {
    if (!isPlainPath(file)) return answer('Its path cannot be moved to the trash.')
    if (isInside(dataDir, file)) return answer("It is in Deckhand's own folder.")
    if (!(await lstat(file)).isFile()) return answer('It is not a plain file.')
    await move(file)
    return answer(null)
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'a file could not be moved to the trash')
    return answer(sentence(messageOf(error)))
  }
}

/**
 * Whether a path is absolute, normalized, and means what it looks like. On Windows, device names, alternate data streams
 * and trailing dots or spaces do not.
 */
export function isPlainPath(file: string, platform: NodeJS.Platform = process.platform): boolean {
  if (file.includes('\0')) return false
  if (platform !== 'win32') return path.posix.isAbsolute(file) && path.posix.normalize(file) === file && !file.endsWith('/')
  const { root } = path.win32.parse(file)
  const isDrive = /^[a-z]:\\$/i.test(root)
  const isShare = /^\\\\[^\\?.:][^\\:]*\\[^\\:]+\\$/.test(root)
  if (!isDrive && !isShare) return false
  const parts = file.slice(root.length).split('\\')
  return path.win32.normalize(file) === file && parts.every((part) => part !== '' && !/[:/*?"<>|]|[. ]$/.test(part))
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file)
  return relative === '' || (!path.isAbsolute(relative) && relative !== '..' && !relative.startsWith(`..${path.sep}`))
}

function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().slice(0, 300)
  return /[.!?]$/.test(line) ? line : `${line}.`
}
