import { cutText } from '../../lib/text.ts'
import type { PromptToolCall } from '../providers/model.ts'

/** A model that writes more is confused or hostile, and every call is kept on disk. */
export const MAX_ARGS_CHARS = 1_000_000
export const MAX_ARGS_DEPTH = 64
const MAX_RAW_ARGS_CHARS = 2_000

/** Providers refuse a conversation with other names or ids. */
const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/

export type GivenCall = { callId: string; name: string; args: unknown; argsValid: boolean }

/**
 * A call in the form that is recorded, shown and sent back: bounded, with a name and an id that every provider accepts.
 * The id is unique in the job, because results are matched by it. Arguments that cannot be kept become a text, which no
 * tool accepts, so such a call does not run.
 */
export function takeCall(given: GivenCall, takenIds: ReadonlySet<string>): PromptToolCall {
  return { callId: freeIdFor(given.callId, takenIds), name: safeName(given.name), args: keptArgs(given) }
}

function freeIdFor(callId: string, taken: ReadonlySet<string>): string {
  if (ACCEPTED.test(callId) && !taken.has(callId)) return callId
  const base = ACCEPTED.test(callId) ? callId.slice(0, 50) : 'call'
  let n = 2
  while (taken.has(`${base}-${n}`)) n++
  return `${base}-${n}`
}

/** The prefix keeps `read<NUL>file` from becoming the name of a real tool. */
function safeName(name: string): string {
  return ACCEPTED.test(name) ? name : `unknown_${name.slice(0, 50).replace(/[^a-zA-Z0-9_-]/g, '_')}`
}

function keptArgs({ args, argsValid }: GivenCall): unknown {
  if (!argsValid || typeof args === 'string') {
    const text = String(args)
    return cutText(text, MAX_RAW_ARGS_CHARS, ` [cut: ${text.length} characters]`)
  }
  const excess = excessOf(args)
  return excess === null ? args : `[arguments left out: ${excess}]`
}

/** Without recursion, and stops at the limit, so that neither depth nor size can hurt. */
function excessOf(args: unknown): string | null {
  const rest: { value: unknown; depth: number }[] = [{ value: args, depth: 1 }]
  let chars = 0
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, depth } = next
    if (depth > MAX_ARGS_DEPTH) return `nested deeper than ${MAX_ARGS_DEPTH} levels`
    chars += typeof value === 'string' ? value.length + 2 : 4
    // Do not list the keys of ten million items.
    if (Array.isArray(value)) chars += value.length
    if (typeof value === 'object' && value !== null && chars <= MAX_ARGS_CHARS) {
      for (const key of Object.keys(value)) {
        chars += Array.isArray(value) ? 0 : key.length + 3
        rest.push({ value: (value as Record<string, unknown>)[key], depth: depth + 1 })
      }
    }
    if (chars > MAX_ARGS_CHARS) return `more than ${MAX_ARGS_CHARS} characters`
  }
  return null
}
