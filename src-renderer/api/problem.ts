import { visibleText } from '../lib/visible-text.ts'
import type { ErrorIssue } from '../../src-runner/contract/errors.ts'
import { messageText } from '../lib/message-text.ts'
import { t } from '../lib/language.ts'
import type { Problem } from '../ui/ErrorState.tsx'
import { ApiError } from './client.ts'
import { failureText } from '../lib/failure-text.ts'

/** What to show for a thrown value: what happened, why, and what to do next. */
export function problemOf(thrown: unknown): Problem {
  if (!(thrown instanceof ApiError)) return { title: t('common.error.title'), why: failureText(thrown) }
  const { code } = thrown
  switch (code) {
    case 'runner_unavailable':
      return { title: t('common.error.unreachable'), why: whyOf(thrown) }
    case 'unauthorized':
    case 'link_required':
    case 'forbidden_origin':
    case 'forbidden_host':
    case 'forbidden_forwarded':
      return { title: t('common.error.unauthorized'), why: whyOf(thrown), code }
    case 'vault_unavailable':
      return { title: t('common.error.vault'), why: whyOf(thrown) }
    case 'disk_full':
      return { title: t('common.error.diskFull'), why: whyOf(thrown) }
    default:
      return { title: thrown.status === 404 ? t('common.error.notFound') : t('common.error.title'), why: whyOf(thrown), code }
  }
}

/** The same as one sentence, for under a form. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof ApiError && thrown.issues.length > 0) return thrown.issues.map(issueText).join(' · ')
  return problemOf(thrown).why
}

/** The issue that the runner found in one field of the body, or null. */
export function issueOf(thrown: unknown, path: string): string | null {
  if (!(thrown instanceof ApiError)) return null
  const found = thrown.issues.find((issue) => issue.path === path || issue.path === `body.${path}` || issue.path.startsWith(`${path}.`))
  return found === undefined ? null : issueText(found)
}

/** An issue of a field, in the language of the page. */
export function issueText({ message, kind, limit, detail }: ErrorIssue): string {
  if (detail !== undefined) return messageText(detail)
  if (kind === undefined) return visibleText(message)
  return t(`errors.issues.${kind}`, { limit: limit ?? 0 })
}

function whyOf({ code, detail }: ApiError): string {
  if (detail !== undefined) return messageText(detail)
  return code === 'unexpected_answer' ? t('errors.unexpected') : t(`messages.error_${code}`)
}

/** Nothing has this id, or it is not a valid id. */
export function isNoSuchThing(thrown: unknown): boolean {
  return thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)
}
