import { z } from 'zod'
import { defineTool } from '../tool.ts'

export const ASK_PERSON = 'ask_person'

export const AskPersonArgs = z.object({
  question: z.string().trim().min(1).max(4_000).describe('The question, with all that the person needs to know to answer it.'),
  choices: z
    .array(z.string().trim().min(1).max(200))
    .max(10)
    .optional()
    .describe('Answers to choose from. The person may still write another one.'),
})

/** Answered by the gate with what the person says: a question is a row and an answer, never something that runs. */
export const askPerson = defineTool({
  name: ASK_PERSON,
  description:
    'Asks the person something and waits for the answer, which can take hours. Use it when you cannot go on well without a decision or a fact that only the person has. ' +
    'Permission for a tool is asked by itself: do not ask for it here.',
  args: AskPersonArgs,
  effect: 'idempotent',
  parallel: true,
  facts: (args) => ({
    ...NOTHING_HAPPENS,
    subject: args.question,
    summary: `Ask you: ${args.question}`,
    effectOn: { code: 'ask', question: args.question },
  }),
  async run() {
    return { ok: false, output: 'Nobody is there who could be asked.' }
  },
})

const NOTHING_HAPPENS = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
