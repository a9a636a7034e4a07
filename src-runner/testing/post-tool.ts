import { z } from 'zod'
import { defineTool, type Tool } from '../agent/tools/tool.ts'

/** A tool that needs an approval at the default autonomy, because it sends data out. */
export function createPostTool(onPost: (text: string) => void): Tool {
  const nothing = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
  return defineTool({
    name: 'post',
    description: 'Posts a text.',
    args: z.object({ text: z.string() }),
    effect: 'once',
    parallel: false,
    facts: ({ text }) => ({ ...nothing, subject: `https://post.example/${text}`, summary: `Post "${text}"`, leavesMachine: true }),
    async run({ text }) {
      onPost(text)
      return { ok: true, output: 'posted' }
    },
  })
}
