import type { ErrorIssue } from '../../src-runner/contract/errors.ts'
import { countText } from '../kit/numbers.ts'
import { saidText } from '../kit/said.ts'
import { locale, words } from '../kit/words/words.ts'
import type { Problem } from '../ui/ErrorState.tsx'
import { ApiError } from './client.ts'

/** What to show for something that was thrown: what happened, why, what to do next. */
export function problemOf(thrown: unknown): Problem {
  const text = words().common.error
  if (!(thrown instanceof ApiError)) return { title: text.title, why: thrown instanceof Error ? thrown.message : String(thrown) }
  const { code } = thrown
  switch (code) {
    case 'runner_unavailable':
      return { title: text.unreachable, why: whyOf(thrown) }
    case 'unauthorized':
    case 'forbidden_origin':
    case 'forbidden_host':
    case 'forbidden_forwarded':
      return { title: text.unauthorized, why: whyOf(thrown), code }
    case 'vault_unavailable':
      return { title: text.vault, why: whyOf(thrown) }
    case 'disk_full':
      return { title: text.diskFull, why: whyOf(thrown) }
    default:
      return { title: thrown.status === 404 ? text.notFound : text.title, why: whyOf(thrown), code }
  }
}

/** The same as one sentence, for under a form. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof ApiError && thrown.issues.length > 0) return thrown.issues.map(issueText).join(' · ')
  return problemOf(thrown).why
}

/** What is wrong with one field of the body that was sent, or null. */
export function issueOf(thrown: unknown, path: string): string | null {
  if (!(thrown instanceof ApiError)) return null
  const found = thrown.issues.find((issue) => issue.path === path || issue.path === `body.${path}` || issue.path.startsWith(`${path}.`))
  return found === undefined ? null : issueText(found)
}

/** What is wrong with a field, in the language of the page. */
export function issueText({ message, kind, limit, said }: ErrorIssue): string {
  if (said !== undefined || kind === undefined) return saidText(message, said)
  return words().errors.issues[kind](countText(limit ?? 0, locale()))
}

/** Codes that say too little by themselves: who refused says why, in words of its own. */
const SAID_BY_OTHERS: ReadonlySet<string> = new Set(['provider_refused', 'channel_refused', 'invalid_request', 'file_cannot_be_undone'])

function whyOf({ code, message, said }: ApiError): string {
  if (said !== undefined) return saidText(message, said)
  if (SAID_BY_OTHERS.has(code) && message !== '') return saidText(message, undefined)
  return words().errors.codes[code]
}

/** Nothing has this id, or it is none at all. */
export function isNoSuchThing(thrown: unknown): boolean {
  return thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)
}
