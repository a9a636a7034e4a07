import { createHash } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import type { CodingAnswer, CodingCall, CodingHandlers, CodingUsage } from './coding-session.ts'

/** The limit of all text and thinking of one turn. */
const MAX_TURN_CHARS = 4_000_000
const MAX_CALLS = 5_000
const MAX_UPDATES = 50_000
/** Open at the same time. */
const MAX_OPEN_CALLS = 100
const MAX_REQUESTS = 50
/** Kept for `resume`. */
const MAX_KEPT = 20_000
const MAX_KEPT_CHARS = 20_000_000

const MAX_ID_CHARS = 128
const MAX_TITLE_CHARS = 500
const MAX_PATHS = 200
const MAX_PATH_CHARS = 4_096
const MAX_COMMAND_CHARS = 50_000
const MAX_URL_CHARS = 4_096
const MAX_DIFFS = 200
const MAX_DIFF_CHARS = 400_000
const MAX_OUTPUT_CHARS = 50_000
const MAX_INPUT_CHARS = 100_000

/** What one message says of a call. What it leaves out stays as it was. */
export type CallUpdate = { id: string } & Partial<Omit<CodingCall, 'callId' | 'isCut' | 'isInputMissing'>>

/** `cancelled`: the turn ended before anybody answered. */
export type RequestAnswer = Exclude<CodingAnswer, 'later'> | 'cancelled'

type Request = { call: CodingCall; answer(answer: RequestAnswer): void }

/**
 * What a session tells of its turns: bounded, cleaned, in order, kept while nobody listens. `onLimit` is called once, and nothing is
 * told after that.
 */
export type CodingTurns = {
  begin(handlers: CodingHandlers): void
  /** false: no turn was left with `later`. */
  resume(handlers: CodingHandlers): boolean
  /** Open requests are answered with `cancelled`. Nothing is told until the next turn. Returns the text of the turn. */
  end(): string
  cancelRequests(): void
  text(delta: string): void
  thinking(delta: string): void
  call(update: CallUpdate): void
  usage(usage: CodingUsage): void
  permission(update: CallUpdate): Promise<RequestAnswer>
}

export function createCodingTurns({ folder, onLimit }: { folder: string; onLimit(detail: string): void }): CodingTurns {
  let handlers: CodingHandlers | null = null
  /** Between `later` and `resume`. */
  let kept: ((to: CodingHandlers) => void)[] | null = null
  let isOver = false
  let text = ''
  let chars = 0
  let updates = 0
  let keptChars = 0
  let totals: CodingUsage = {}
  const open = new Map<string, CodingCall>()
  /** Digests of ids: a program may choose long ones. */
  const seen = new Set<string>()
  const requests = new Set<Request>()

  function exceed(detail: string): void {
    if (isOver) return
    isOver = true
    if (kept !== null) kept = []
    cancelRequests()
    onLimit(detail)
  }

  function tell(event: (to: CodingHandlers) => void, about?: CodingCall): void {
    if (isOver || handlers === null) return
    if (++updates > MAX_UPDATES) return exceed('It sends too many updates.')
    if (kept === null) return event(handlers)
    if (about !== undefined) keptChars += JSON.stringify(about).length
    if (kept.push(event) > MAX_KEPT || keptChars > MAX_KEPT_CHARS) exceed('It goes on while a request is open.')
  }

  function count(delta: string): boolean {
    chars += delta.length
    if (chars > MAX_TURN_CHARS) exceed('It writes too much text.')
    return !isOver && handlers !== null
  }

  /** null: it is over, or one too many. */
  function merge(update: CallUpdate): CodingCall | null {
    const callId = idOf(update.id)
    const before = open.get(callId)
    if (before === undefined) {
      if (isOver || handlers === null || seen.has(callId)) return null
      seen.add(callId)
      if (seen.size > MAX_CALLS || open.size >= MAX_OPEN_CALLS) {
        exceed('It makes too many calls.')
        return null
      }
    }
    const call = mergeCall(before ?? { ...NO_CALL, callId }, update, folder)
    if (call.status === 'completed' || call.status === 'failed') open.delete(callId)
    else open.set(callId, call)
    return call
  }

  function ask(request: Request, to: CodingHandlers): void {
    const take = (answer: CodingAnswer) => {
      // Only who listens now decides.
      if (handlers !== to) return
      if (answer === 'later') kept ??= []
      else request.answer(answer)
    }
    to.permission(request.call).then(take, () => take('later'))
  }

  function cancelRequests(): void {
    for (const request of requests) request.answer('cancelled')
  }

  return {
    begin(to) {
      ;[handlers, kept, keptChars, text, chars, updates] = [to, null, 0, '', 0, 0]
      open.clear()
    },
    resume(to) {
      if (kept === null) return false
      const events = kept
      keptChars = 0
      ;[handlers, kept] = [to, null]
      for (const event of events) event(to)
      for (const request of requests) ask(request, to)
      return true
    },
    end() {
      cancelRequests()
      ;[handlers, kept] = [null, null]
      return text
    },
    cancelRequests,
    text(delta) {
      if (delta === '' || !count(delta)) return
      text += delta
      tell((to) => to.text(delta))
    },
    thinking(delta) {
      if (delta !== '' && count(delta)) tell((to) => to.thinking(delta))
    },
    call(update) {
      const call = merge(update)
      if (call !== null) tell((to) => to.toolCall(call), call)
    },
    usage(usage) {
      totals = { ...totals, ...usage }
      const now = totals
      tell((to) => to.usage(now))
    },
    async permission(update) {
      const call = merge(update) ?? open.get(idOf(update.id))
      if (call === undefined || isOver || handlers === null) return 'cancelled'
      if (requests.size >= MAX_REQUESTS) {
        exceed('It asks too much at once.')
        return 'cancelled'
      }
      tell((to) => to.toolCall(call), call)
      const answer = Promise.withResolvers<RequestAnswer>()
      const request: Request = { call, answer: answer.resolve }
      requests.add(request)
      try {
        if (kept === null) ask(request, handlers)
        return await answer.promise
      } finally {
        requests.delete(request)
      }
    },
  }
}

const NO_CALL: Omit<CodingCall, 'callId'> = {
  kind: 'other',
  title: '',
  status: 'pending',
  paths: [],
  command: null,
  url: null,
  diffs: [],
  output: null,
  exitCode: null,
  rawInput: null,
  isCut: false,
  isInputMissing: false,
}

function idOf(id: string): string {
  return /^[\w.:-]+$/.test(id) && id.length <= MAX_ID_CHARS ? id : createHash('sha256').update(id).digest('hex')
}

function mergeCall(before: CodingCall, update: CallUpdate, folder: string): CodingCall {
  let { isCut, isInputMissing } = before
  const cut = (value: string, chars: number) => cutText(value.toWellFormed(), chars)
  /** Cuts what decides about the call. */
  const limit = (value: string, chars: number) => {
    isCut ||= value.length > chars
    return cut(value, chars)
  }
  const some = <T>(values: T[], count: number) => {
    isCut ||= values.length > count
    return values.slice(0, count)
  }
  const absolute = (path: string) => {
    const short = limit(path, MAX_PATH_CHARS)
    return isAbsolute(short) ? short : resolve(folder, short)
  }
  const call: CodingCall = {
    ...before,
    ...Object.fromEntries(Object.entries(update).filter(([name, value]) => name !== 'id' && value !== undefined)),
  }
  if (update.title !== undefined) call.title = cut(visibleText(update.title).replace(/\s+/g, ' ').trim(), MAX_TITLE_CHARS)
  if (update.paths !== undefined) call.paths = [...new Set(some(update.paths, MAX_PATHS).map(absolute))]
  if (typeof update.command === 'string') call.command = limit(update.command, MAX_COMMAND_CHARS)
  if (typeof update.url === 'string') call.url = limit(update.url, MAX_URL_CHARS)
  if (typeof update.output === 'string') call.output = cut(visibleText(update.output), MAX_OUTPUT_CHARS)
  if (update.diffs !== undefined) {
    let left = MAX_DIFF_CHARS
    const take = (value: string) => {
      const taken = cut(value, left)
      left = Math.max(0, left - taken.length)
      return taken
    }
    call.diffs = some(update.diffs, MAX_DIFFS).map(({ path, before: old, after }) => ({
      path: absolute(path),
      before: old === null ? null : take(old),
      after: take(after),
    }))
  }
  if (update.rawInput !== undefined) {
    isInputMissing = !isSmallJson(update.rawInput)
    if (isInputMissing) call.rawInput = null
  }
  return { ...call, isCut, isInputMissing }
}

/** Also false if it is too deep to be written. */
function isSmallJson(value: unknown): boolean {
  try {
    return (JSON.stringify(value) ?? '').length <= MAX_INPUT_CHARS
  } catch {
    return false
  }
}
