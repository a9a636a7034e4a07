import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { ExportHead } from '../src-runner/contract/export.ts'
import { ROUTES } from '../src-runner/contract/routes.ts'
import type { RunnerEndpoint } from './runner/runner-child.ts'
import { StartError } from './settings/start-error.ts'

const MAX_HEAD_CHARS = 2_000_000
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

/** Makes the set-up of an export file. Returns a sentence about it. Throws a StartError. */
export async function importFrom(runner: RunnerEndpoint, file: string): Promise<string> {
  const body = { head: await readHead(file), dryRun: false }
  const { result } = ROUTES.importSetup.answer.parse(await ask(runner, ROUTES.importSetup.path, body))
  const { agents, triggers, schedules, rules, memories } = result
  return `imported ${agents.length} agents, ${triggers.length} webhooks, ${schedules.length} schedules (both paused), ${rules} rules and ${memories} memories`
}

async function readHead(file: string): Promise<typeof ExportHead._output> {
  const input = createReadStream(file, { encoding: 'utf8', end: 4 * MAX_HEAD_CHARS })
  try {
    for await (const line of createInterface({ input })) return ExportHead.parse(JSON.parse(line.slice(0, MAX_HEAD_CHARS)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new StartError(1, `there is no file ${file}`)
  } finally {
    input.destroy()
  }
  throw new StartError(1, `${file} is not an export of Deckhand`)
}

async function ask({ url, secret }: RunnerEndpoint, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const refusal = Refusal.safeParse(answer).data
  throw new StartError(1, refusal?.message ?? refusal?.error ?? `the runner responded with ${response.status}`)
}
