import { cutText } from '../../../lib/text.ts'
import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { defineTool, NO_EFFECTS } from '../tool.ts'

export const DELEGATE = 'delegate'

export const DelegateArgs = z.object({
  agent: z.string().trim().min(1).max(120).optional().describe('The name of the other agent. Leave it out to get a list of the agents.'),
  task: z.string().trim().max(200_000).default('').describe('The complete task. The other agent sees nothing else of this job.'),
})

/** Never runs: the tool policy starts the other agent's job, and this job waits until that one has ended. */
export const delegate = defineTool({
  name: DELEGATE,
  description:
    'Gives a task to another agent and waits for its result. The other agent has its own instructions, folders and tools. Its costs count against your limits.',
  args: DelegateArgs,
  effect: 'idempotent',
  parallel: true,
  facts: ({ agent, task }) => ({
    ...NO_EFFECTS,
    subject: agent ?? '',
    effectOn:
      agent === undefined ? createMessage('effect_list_agents') : createMessage('effect_delegate', { agent, task: cutText(task, 300) }),
    delegates: agent !== undefined,
  }),
  async run() {
    return { ok: false, output: 'There are no other agents here.' }
  },
})
