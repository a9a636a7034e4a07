import { createMessage } from '../../../lib/messages.ts'
import { z } from 'zod'
import { defineTool, NO_EFFECTS } from '../tool.ts'

export const ASK_PERSON = 'ask_person'

export const AskPersonArgs = z.object({
  question: z.string().trim().min(1).max(4_000).describe('The question, with everything the person needs to know to answer it.'),
  choices: z
    .array(z.string().trim().min(1).max(200))
    .max(10)
    .optional()
    .describe('Possible answers. The person can still write another one.'),
})

/** Never runs: the tool policy returns the person's answer. The question is a row. */
export const askPerson = defineTool({
  name: ASK_PERSON,
  description:
    'Asks the person a question and waits for the answer, which can take hours. Use it only if you need a decision or a fact that only the person has. ' +
    'Do not ask for permission to use a tool: the app asks for that by itself.',
  args: AskPersonArgs,
  effect: 'idempotent',
  parallel: true,
  facts: (args) => ({
    ...NO_EFFECTS,
    subject: args.question,
    effectOn: createMessage('effect_ask', { question: args.question }),
  }),
  async run() {
    return { ok: false, output: 'There is nobody to ask.' }
  },
})
