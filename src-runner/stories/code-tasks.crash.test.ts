import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { builtChild } from '../testing/built-children.ts'
import type { FaultPoint } from '../testing/fault-points.ts'
import { installScriptedAgent } from '../testing/coding-agents/install-scripted-agent.ts'
import { gitIn } from '../testing/git-rig.ts'
import { createRunnerClient, type RunnerClient } from '../testing/runner-client.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import { scratchFolder } from '../testing/scratch-folder.ts'

const { isMissing } = await findSandboxHere()
const CHILD = builtChild('kill-child')

type Kill = {
  name: string
  at?: FaultPoint
  /** How often the point is passed before. */
  after?: number
  /** Killed from here when the program is in the middle of its turn. */
  midTurn?: true
  /** A person stops it in the middle of its turn. */
  stops?: true
  asks?: true
  /** A program that cannot go on with its conversation. */
  cannotLoad?: true
  isLong?: true
}

const KILLS: Kill[] = [
  { name: 'before the program starts', at: 'a job is claimed', isLong: true },
  { name: 'before the session', at: 'a reply is recorded', isLong: true },
  { name: 'with the session open, before the task is sent', at: 'a call is started', isLong: true },
  { name: 'during a turn', midTurn: true, isLong: true },
  { name: 'during a turn of a program that cannot load', midTurn: true, cannotLoad: true, isLong: true },
  { name: 'while a person is asked', at: 'an approval is asked', asks: true },
  { name: 'when a person has answered', at: 'an approval is answered', asks: true, isLong: true },
  { name: 'after the program has ended, before the commit', at: 'a reply is recorded', after: 2, isLong: true },
  { name: 'after the commit, before the end is recorded', at: 'the end is being recorded' },
  { name: 'when the end is recorded', at: 'the end is recorded', isLong: true },
  { name: 'after Stop, before the commit', at: 'the end is recorded', stops: true },
]

let child: ChildProcess | null = null
afterEach(() => void child?.kill('SIGKILL'))

describe.skipIf(isMissing)('a runner that is killed', () => {
  it.each(KILLS.filter(({ isLong }) => isLong !== true || process.env['CODE_KILLS'] !== undefined))(
    'loses nothing of a coding program, and repeats nothing: $name',
    { timeout: 120_000 },
    async ({ at, after = 0, midTurn, stops, asks, cannotLoad }) => {
      const scratch = await scratchFolder()
      const [programs, repository, dataDir] = [scratch.at('programs'), scratch.at('shop'), scratch.at('data')]
      for (const folder of [programs, repository]) mkdirSync(folder)
      const start = cannotLoad === true ? '@start no-load\n' : ''
      const play = (script: string) => installScriptedAgent(programs, 'gemini', `${start}@put a.txt one\n${script}`)
      await play(midTurn === true || stops === true ? '@hang' : asks === true ? '@run echo x >> ran\n@say Done.' : '@say Done.')
      gitIn(repository, 'init', '--quiet')
      await scratch.write('shop/till.ts', 'export const tax = 19\n')
      gitIn(repository, 'add', '--all')
      gitIn(repository, 'commit', '--quiet', '-m', 'Begin')

      let client = await boot(at === undefined ? {} : { KILL_AT: at, KILL_AFTER: String(after) })
      const body = {
        name: 'Coder',
        folders: [repository],
        autonomy: asks === true ? ('ask_when_it_matters' as const) : ('on_its_own' as const),
      }
      const { agent } = await client.ok('createAgent', { body })
      const task = { agentId: agent.id, cli: 'gemini', folder: repository, task: 'Look' } as const
      const { jobId } = await client.ok('createCodeTask', { body: task })
      if (midTurn === true || stops === true) {
        await expect.poll(() => existsSync(join(dataDir, 'code', jobId, 'a.txt'))).toBe(true)
        if (midTurn === true) child!.kill('SIGKILL')
        else await client.ok('cancelJob', { params: { jobId } }).catch(() => {})
      }
      if (at === 'an approval is answered') {
        await expect.poll(() => pending(client, jobId)).toHaveLength(1)
        await answer(client, jobId).catch(() => {})
      }
      if (child!.exitCode === null && child!.signalCode === null) await once(child!, 'exit')
      expect(child!.signalCode).toBe('SIGKILL')
      // The one that hung goes on.
      if (midTurn === true) await play('@say Done.')

      client = await boot({})
      if (stops === true) {
        // At once: it does not matter whether the look at the start has been there.
        expect(await client.ok('applyCodeTask', { params: { jobId } })).toEqual({ ok: true, files: 1 })
        const { codeTask } = await client.ok('getCodeTask', { params: { jobId } })
        expect(codeTask).toMatchObject({ jobStatus: 'cancelled', result: 'applied', fileCount: 1 })
        expect(gitIn(repository, 'rev-list', '--count', `main..${codeTask.branch}`)).toBe('1')
        await expect.poll(() => existsSync(join(dataDir, 'code', `${jobId}.home`))).toBe(false)
        return
      }
      const statusOf = async () => (await client.ok('getJob', { params: { jobId } })).job.status
      const isOver = async () => !['pending', 'running'].includes(await statusOf())
      await expect.poll(isOver).toBe(true)
      if (cannotLoad === true) {
        expect(await pending(client, jobId)).toMatchObject([{ kind: 'unknown_outcome' }])
        await answer(client, jobId, { answer: 'again' })
      }
      if (at === 'an approval is asked') await answer(client, jobId)
      await expect.poll(statusOf).toBe('completed')
      const { codeTask } = await client.ok('getCodeTask', { params: { jobId } })
      expect(codeTask.files.map(({ path }) => path)).toEqual(asks === true ? ['a.txt', 'ran'] : ['a.txt'])
      expect(gitIn(repository, 'show', `${codeTask.branch}:a.txt`)).toBe('one')
      // One commit, one question, and each command ran once.
      expect(gitIn(repository, 'rev-list', '--count', `main..${codeTask.branch}`)).toBe('1')
      if (asks === true) expect(gitIn(repository, 'show', `${codeTask.branch}:ran`)).toBe('x')
      const { approvals } = await client.ok('listApprovals', { query: { jobId } })
      expect(approvals).toHaveLength(asks === true || cannotLoad === true ? 1 : 0)
      expect(gitIn(repository, 'status', '--porcelain')).toBe('')

      async function boot(env: Record<string, string>): Promise<RunnerClient> {
        child?.kill('SIGKILL')
        const own = {
          PATH: `${programs}:${process.env['PATH']}`,
          HOME: scratch.at('.'),
          DECKHAND_DATA_DIR: dataDir,
          RUNNER_PORT: '0',
          LOG_LEVEL: 'error',
        }
        child = spawn(process.execPath, [CHILD], { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
        const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
        return createRunnerClient((JSON.parse(line) as { runnerUrl: string }).runnerUrl)
      }
    },
  )
})

async function pending(client: RunnerClient, jobId: string) {
  return (await client.ok('listApprovals', { query: { jobId, status: 'pending' } })).approvals
}

async function answer(client: RunnerClient, jobId: string, more: object = {}): Promise<void> {
  for (const { id } of await pending(client, jobId))
    await client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve', ...more } })
}
