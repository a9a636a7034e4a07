import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { listProgramFolders } from '../platform/programs/program-folders.ts'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { CodeTask, CreateCodeTask } from '../contract/code-tasks.ts'
import type { Job, Step } from '../contract/jobs.ts'
import { installScriptedAgent } from './coding-agents/install-scripted-agent.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'
import { gitIn, writeRepository } from './git-rig.ts'
import { scratchFolder } from './scratch-folder.ts'

export type CodeRig = {
  runner: TestRunner
  agent: Agent
  /** The person's checkout. */
  repository: string
  /** Where the coding programs are. */
  programs: string
  /** The person's. */
  home: string
  git(...args: string[]): string
  /** Starts a task for the scripted program. Returns the id of its job. */
  begin(task: string, more?: Partial<CreateCodeTask>): Promise<string>
  /** The same, when it has ended or waits. */
  run(task: string, more?: Partial<CreateCodeTask>): Promise<{ job: Job; code: CodeTask; steps: Step[] }>
  look(jobId: string): Promise<{ job: Job; code: CodeTask; steps: Step[] }>
  pending(jobId: string): Promise<Approval[]>
  /** Answers the pending approvals of a job, and resolves when it has ended or waits again. */
  answer(jobId: string, decision: 'approve' | 'reject', more?: object): Promise<{ job: Job; code: CodeTask; steps: Step[] }>
}

/** The whole runner with a repository, an agent that may work in it, and the scripted coding program under the name `gemini`. */
export async function createCodeRig(
  given: { agent?: Partial<CreateAgent>; script?: string; runner?: TestRunnerOptions } = {},
): Promise<CodeRig> {
  const scratch = await scratchFolder()
  const [programs, repository, home] = [scratch.at('programs'), scratch.at('shop'), scratch.at('home')]
  for (const folder of [programs, repository, home]) mkdirSync(folder)
  await installScriptedAgent(programs, 'gemini', given.script)
  const git = (...args: string[]) => gitIn(repository, ...args)
  writeRepository(repository, { 'till.ts': 'export const tax = 19\n' })
  const runner = await createTestRunner({
    home,
    listProgramFolders: async () => [programs, ...(await listProgramFolders())],
    ...given.runner,
  })
  const agent = await runner.addAgent({ name: 'Coder', folders: [repository], ...given.agent })
  const rig: CodeRig = {
    runner,
    agent,
    repository,
    programs,
    home,
    git,
    async begin(task, more = {}) {
      const body = { agentId: agent.id, cli: 'gemini' as const, folder: repository, task, ...more }
      return (await runner.client.ok('createCodeTask', { body })).jobId
    },
    async run(task, more) {
      const jobId = await rig.begin(task, more)
      await runner.ended(jobId)
      return rig.look(jobId)
    },
    async look(jobId) {
      const params = { jobId }
      const [{ job }, { codeTask }, { steps }] = await Promise.all([
        runner.client.ok('getJob', { params }),
        runner.client.ok('getCodeTask', { params }),
        runner.client.ok('listSteps', { params }),
      ])
      return { job, code: codeTask, steps }
    },
    pending: async (jobId) => (await runner.client.ok('listApprovals', { query: { jobId, status: 'pending' } })).approvals,
    async answer(jobId, decision, more = {}) {
      for (const { id } of await rig.pending(jobId))
        await runner.client.ok('resolveApproval', { body: { approvalId: id, decision, ...more } })
      await runner.ended(jobId)
      return rig.look(jobId)
    },
  }
  return rig
}

/** Where a job's program works. */
export function worktreeOf({ runner }: CodeRig, jobId: string): string {
  return join(runner.dataDir, 'code', jobId)
}
