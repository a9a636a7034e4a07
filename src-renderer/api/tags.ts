import type { RecordedEvent } from '../../src-runner/contract/events.ts'
import { STALE_AFTER, type Tag } from '../../src-runner/contract/tags.ts'
import { type CallName, entryOf } from './client.ts'

/** Tags that name one thing, and the route parameter that says which. */
const NAMED_BY: Partial<Record<Tag, string>> = {
  job: 'jobId',
  steps: 'jobId',
  conversation: 'conversationId',
  trigger: 'triggerId',
  schedule: 'scheduleId',
  code_task: 'jobId',
}

/** The tags of a query: `jobs`, or `job:<id>` for a route about one thing. */
export function tagsOf(name: CallName, params: Record<string, string> | undefined): string[] {
  return (entryOf(name).shows ?? []).map((tag) => {
    const param = NAMED_BY[tag]
    const id = param === undefined ? undefined : params?.[param]
    return id === undefined ? tag : `${tag}:${id}`
  })
}

/** The tags that an event makes stale. An event without a conversation makes no conversation stale. */
export function staleTagsOf(event: RecordedEvent): string[] {
  const payload = event.payload as Record<string, unknown>
  return STALE_AFTER[event.type].flatMap(({ tag, by }) => {
    if (by === undefined) return [tag]
    const id = payload[by]
    return typeof id === 'string' ? [`${tag}:${id}`] : []
  })
}

/** Whether a query with these tags is stale. `job` alone matches every `job:<id>`, and vice versa. */
export function isTouched(held: readonly string[], stale: ReadonlySet<string>): boolean {
  return held.some(
    (tag) =>
      stale.has(tag) || stale.has(tag.split(':', 1)[0]!) || (!tag.includes(':') && [...stale].some((one) => one.startsWith(`${tag}:`))),
  )
}
