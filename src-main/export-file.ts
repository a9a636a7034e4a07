import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { ExportHead, MAX_HEAD_CHARS } from '../src-runner/contract/export.ts'
import { ROUTES } from '../src-runner/contract/routes.ts'
import type { RunnerEndpoint } from './runner/runner-child.ts'
import { StartError } from './settings/start-error.ts'

const LINES_AT_ONCE = 100
const CHARS_AT_ONCE = 1_000_000
const Refusal = z.object({ error: z.string(), message: z.string().optional() })

/** Writes everything to `file`, which gets its name when it is whole. Returns a sentence about it. Throws a StartError. */
export async function exportTo(runner: RunnerEndpoint, file: string): Promise<string> {
  const draft = `${file}.part`
  const handle = await open(draft, 'w', 0o600)
  try {
    const head = ROUTES.exportSetup.answer.parse(await ask(runner, ROUTES.exportSetup.path))
    await handle.write(`${JSON.stringify(head)}\n`)
    let lines = 0
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`
      const page = ROUTES.exportHistory.answer.parse(await ask(runner, `${ROUTES.exportHistory.path}${query}`))
      await handle.write(page.lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      lines += page.lines.length
      cursor = page.nextCursor
    }
    await handle.sync()
    await handle.close()
    await rename(draft, file)
    return `exported ${head.setup.agents.length} agents and ${lines} conversations and jobs to ${file}`
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(draft, { force: true })
    throw error
  }
}

/**
 * Makes the set-up of an export file, unless `historyOnly`, and adds its conversations and jobs as records. Returns a sentence about
 * it. Throws a StartError. What was added stays; a second import skips it.
 */
export async function importFrom(runner: RunnerEndpoint, file: string, { historyOnly }: { historyOnly: boolean }): Promise<string> {
  const body = { head: await readHead(file), dryRun: false }
  const [done, notes]: [string[], string[]] = [[], []]
  if (!historyOnly) {
    const { result } = ROUTES.importSetup.answer.parse(await ask(runner, ROUTES.importSetup.path, body))
    const { agents, triggers, schedules, rules, memories, skills, foldersLeftOut, rulesLeftOut, modelsUnknown } = result
    done.push(
      `${agents.length} agents, ${triggers.length} webhooks, ${schedules.length} schedules (both paused), ${rules} rules, ${memories} memories, ${skills.length} skills to look at and install`,
    )
    if (foldersLeftOut.length > 0)
      notes.push(`${foldersLeftOut.length} folders of agents were left out, because they cannot be used on this computer`)
    if (modelsUnknown > 0) notes.push(`${modelsUnknown} agents use the default model, because theirs is not known here`)
    if (rulesLeftOut > 0)
      notes.push(`${rulesLeftOut} rules for everyone were left out, because they could permit more to the agents that are here`)
  }
  const sum = { jobs: 0, conversations: 0, known: 0 }
  for await (const lines of readHistory(file)) {
    const answer = await askWithText(runner, ROUTES.importHistory.path, `{"lines":[${lines.join(',')}]}`)
    const { result } = ROUTES.importHistory.answer.parse(answer)
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += result[key]
  }
  const { jobs, conversations, known } = sum
  if (known > 0) notes.push(`${known} jobs and conversations were here already`)
  done.push(`${jobs} jobs and ${conversations} conversations as records`)
  return [`imported ${done.join(', ')}`, ...notes].join('; ')
}

/** The lines after the first, a few at a time: a request holds few lines, or a single long one. */
async function* readHistory(file: string): AsyncGenerator<string[]> {
  let [lines, chars, isHead]: [string[], number, boolean] = [[], 0, true]
  for await (const line of linesOf(createReadStream(file, { encoding: 'utf8' }))) {
    if (isHead || line.trim() === '') {
      isHead = false
      continue
    }
    if (lines.length > 0 && (lines.length >= LINES_AT_ONCE || chars + line.length > CHARS_AT_ONCE)) {
      yield lines
      ;[lines, chars] = [[], 0]
    }
    lines.push(line)
    chars += line.length
  }
  if (lines.length > 0) yield lines
}

/** Ends lines at `\n` alone: JSON may have the other line ends of Unicode, where `readline` splits as well. */
async function* linesOf(input: AsyncIterable<string>): AsyncGenerator<string> {
  let parts: string[] = []
  for await (const chunk of input) {
    const [first = '', ...others] = chunk.split('\n')
    parts.push(first)
    for (const next of others) {
      yield parts.join('')
      parts = [next]
    }
  }
  yield parts.join('')
}

async function readHead(file: string): Promise<typeof ExportHead._output> {
  const input = createReadStream(file, { encoding: 'utf8', end: 4 * MAX_HEAD_CHARS })
  try {
    for await (const line of linesOf(input)) return ExportHead.parse(JSON.parse(line.slice(0, MAX_HEAD_CHARS)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new StartError(1, `there is no file ${file}`)
  } finally {
    input.destroy()
  }
  throw new StartError(1, `${file} is not an export of Deckhand`)
}

const ask = (runner: RunnerEndpoint, path: string, body?: object) =>
  askWithText(runner, path, body === undefined ? undefined : JSON.stringify(body))

async function askWithText({ url, secret }: RunnerEndpoint, path: string, body?: string): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const refusal = Refusal.safeParse(answer).data
  throw new StartError(1, refusal?.message ?? refusal?.error ?? `the runner responded with ${response.status}`)
}
