/** Ids, moments, versions, and codes. Any other word could be a name. */
const CODE = /^([\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|v?\d+(\.\d+){1,3}|[a-z]+([._-][a-z]+)*|E?[A-Z]+(_[A-Z]+)*)$/
const MAX_CODE = 40
/** The only code among the params of a message for people: they are hosts, accounts and words of others. */
const SIGNAL = /^SIG[A-Z\d]+$/
/** Up to the end of the clause, because a name may contain spaces. */
const PATH = /(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][^\s"'`\\/:()<>|]+){2,}[^"'`:()<>|\n]*/g
const OWN_FRAME = /(?:src-main|src-runner|out|node_modules)[\\/][\w@.\\/-]+$/
const URL_LIKE = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>)]+/gi
const QUOTED = /[“"'`„‚][^“”"'`‘’]*[”"'`’“‘]/g
const MAX_TEXT = 1000

/**
 * A line of a log without what could be private: fields keep numbers, switches, ids and codes; messages and stacks lose
 * addresses, paths outside of the app, and everything in quotation marks. null: it is not a line of ours.
 */
export function reduceLogLine(line: string): string | null {
  try {
    const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
    return JSON.stringify({ time, level, msg: reduceText(typeof msg === 'string' ? msg : ''), ...(reduceFields(rest) as object) })
  } catch {
    return null
  }
}

export function reduceText(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(URL_LIKE, (url) => (url.startsWith('file:') ? url : '(address)'))
    .replace(PATH, (path) => OWN_FRAME.exec(path)?.[0] ?? '(path)')
    .replace(QUOTED, '(text)')
}

const TEXT_FIELDS = new Set(['message', 'stack', 'reason'])
const NAME_FIELDS = /name$|title|task|text/i

export function reduceFields(value: unknown, depth = 0, code = CODE): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.length <= MAX_CODE && code.test(value) ? value : '(text)'
  if (depth > 4) return '(more)'
  if (Array.isArray(value)) return value.slice(0, 20).map((part) => reduceFields(part, depth + 1, code))
  return Object.fromEntries(
    Object.entries(value as object).map(([key, part]) => [
      key,
      typeof part !== 'string' || code === SIGNAL
        ? reduceFields(part, depth + 1, key === 'params' ? SIGNAL : code)
        : TEXT_FIELDS.has(key)
          ? reduceText(part)
          : NAME_FIELDS.test(key)
            ? '(text)'
            : reduceFields(part, depth + 1, code),
    ]),
  )
}
