import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LOG_LEVELS, type LogLine, type LogQuery } from '../contract/logs.ts'

/** How much of each log is read, from its end. So a rare level may show fewer lines than there are. */
const MAX_BYTES_READ = 1024 * 1024
const MAX_LINES = 500
const MAX_DETAILS = 4000
const PROCESSES = ['main', 'runner'] as const
/** pino's numbers. */
const LEVELS: Record<number, LogLine['level']> = { 10: 'debug', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'error' }

/** The newest lines of both logs that match, the newest first. A log that cannot be read has none. */
export async function readLogLines(folder: string, { level, text }: LogQuery): Promise<LogLine[]> {
  const lines = (await Promise.all(PROCESSES.map((process) => readAll(folder, process)))).flat()
  const worst = LOG_LEVELS.indexOf(level)
  const wanted = text.trim().toLowerCase()
  const matches = (line: LogLine) =>
    LOG_LEVELS.indexOf(line.level) <= worst && (wanted === '' || `${line.message}\n${line.details}`.toLowerCase().includes(wanted))
  return lines
    .filter(matches)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_LINES)
}

/** The end of a log as text, beginning with a whole line. */
export async function readLogEnd(folder: string, process: LogLine['process'], maxBytes = MAX_BYTES_READ): Promise<string[]> {
  try {
    const file = join(folder, `${process}.log`)
    const { size } = await stat(file)
    const handle = await open(file)
    try {
      const from = Math.max(0, size - maxBytes)
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - from), position: from })
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
      return lines.slice(from > 0 ? 1 : 0).filter((line) => line !== '')
    } finally {
      await handle.close()
    }
  } catch {
    return []
  }
}

async function readAll(folder: string, process: LogLine['process']): Promise<LogLine[]> {
  const seen = new Map<number, number>()
  return (await readLogEnd(folder, process)).flatMap((text) => {
    const line = parseLine(text, process)
    if (line === null) return []
    const ordinal = (seen.get(line.at) ?? 0) + 1
    seen.set(line.at, ordinal)
    return [{ ...line, id: `${process}-${line.at}-${ordinal}` }]
  })
}

function parseLine(line: string, process: LogLine['process']): Omit<LogLine, 'id'> | null {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
  if (typeof fields !== 'object' || fields === null) return null
  const { level, time, msg, process: _process, ...rest } = fields
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  if (Number.isNaN(at)) return null
  const details = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 1)
  return {
    at,
    process,
    level: typeof level === 'number' ? (LEVELS[level] ?? 'info') : (LOG_LEVELS.find((known) => known === level) ?? 'error'),
    message: typeof msg === 'string' ? msg : '',
    details: details.slice(0, MAX_DETAILS),
  }
}
