import { z } from 'zod'
import { defineTool } from '../tool.ts'

export const DELEGATE = 'delegate'

export const DelegateArgs = z.object({
  agent: z.string().trim().min(1).max(120).optional().describe('The other agent, by its name. Leave it out to be told who there is.'),
  task: z
    .string()
    .trim()
    .max(200_000)
    .default('')
    .describe('The whole task in words that stand alone: the other agent sees nothing else of this job.'),
})

/** Answered by the gate: the other agent's job is a row, and this job sleeps until it has ended. */
export const delegate = defineTool({
  name: DELEGATE,
  description:
    'Gives a task to another agent and waits for its result. The other agent has its own instructions, folders and tools. What it costs counts against your limits.',
  args: DelegateArgs,
  effect: 'idempotent',
  parallel: true,
  facts: ({ agent, task }) => ({
    subject: agent ?? '',
    summary: agent === undefined ? 'List the other agents' : `Give a task to the agent ${agent}: ${cut(task)}`,
    effectOn: agent === undefined ? { code: 'list_agents' } : { code: 'delegate', agent, task: cut(task) },
    paths: [],
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
    delegates: agent !== undefined,
  }),
  async run() {
    return { ok: false, output: 'There are no other agents here.' }
  },
})

function cut(task: string): string {
  return task.length > 300 ? `${task.slice(0, 300).toWellFormed()}…` : task
}
