import { words } from '../kit/words/words.ts'
import type { Problem } from '../ui/ErrorState.tsx'
import { ApiError } from './client.ts'

/** What to show for something that was thrown: what happened, why, what to do next. */
export function problemOf(thrown: unknown): Problem {
  const text = words().common.error
  if (!(thrown instanceof ApiError)) return { title: text.title, why: thrown instanceof Error ? thrown.message : String(thrown) }
  switch (thrown.code) {
    case 'runner_unavailable':
      return { title: text.unreachable, why: text.unreachableWhy }
    case 'unauthorized':
    case 'forbidden_origin':
    case 'forbidden_host':
    case 'forbidden_forwarded':
      return { title: text.unauthorized, why: text.unauthorizedWhy, code: thrown.code }
    case 'vault_unavailable':
      return { title: text.vault, why: thrown.message || text.vaultWhy }
    case 'disk_full':
      return { title: text.diskFull, why: text.diskFullWhy }
    case 'internal':
    case 'unexpected_answer':
    case 'database_unavailable':
      return { title: text.title, why: text.internalWhy, code: thrown.code }
    default:
      if (thrown.status === 404) return { title: text.notFound, why: text.notFoundWhy, code: thrown.code }
      return { title: text.title, why: thrown.message || text.internalWhy, code: thrown.code }
  }
}

/** The same as one sentence, for under a form. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof ApiError && thrown.issues.length > 0) {
    return thrown.issues.map((issue) => issue.message).join(' · ')
  }
  return problemOf(thrown).why
}

/** What is wrong with one field of the body that was sent, or null. */
export function issueOf(thrown: unknown, path: string): string | null {
  if (!(thrown instanceof ApiError)) return null
  return (
    thrown.issues.find((issue) => issue.path === path || issue.path === `body.${path}` || issue.path.startsWith(`${path}.`))?.message ??
    null
  )
}

/** Nothing has this id, or it is none at all. */
export function isNoSuchThing(thrown: unknown): boolean {
  return thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)
}
