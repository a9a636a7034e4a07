import { realpath } from 'node:fs/promises'
import { z } from 'zod'
import { CODING_PROGRAM_NAMES, CodingCli } from '../../contract/coding-programs.ts'
import { CODE_START } from '../../contract/rules.ts'
import type { CodingCall } from '../../agent/coding/coding-session.ts'
import { factsOf, type Tool, type ToolContext } from '../../agent/tools/tool.ts'
import { toolOfCall, toolOfStart, type CodeCallName, type CodePlace } from './code-calls.ts'

const Place = z.object({
  program: CodingCli.default('claude'),
  folder: z.string().optional().describe("The repository. Default: the agent's first folder."),
  sandboxed: z.boolean().default(true),
  internet: z.boolean().default(false),
})
const Path = Place.extend({ path: z.string().min(1).max(4096).describe('Relative to the repository.') })
const Text = z.string().min(1).max(20_000)

const CALL: CodingCall = {
  callId: '',
  kind: 'other',
  title: '',
  status: 'pending',
  paths: [],
  command: null,
  url: null,
  diffs: [],
  output: null,
  exitCode: null,
  rawInput: null,
  isCut: false,
  isInputMissing: false,
}

/** What coding programs do, as tools for rules and their simulation. No model is offered them, and none runs. */
export const CODE_RULE_TOOLS: readonly Tool[] = [
  {
    ...ruleTool(CODE_START, 'once', 'The start of a coding program. Outside of the sandbox it is asked each time.', Place),
    facts: async (args, context) => {
      const given = Place.parse(args)
      return factsOf(toolOfStart(await placeOf(given, context), CODING_PROGRAM_NAMES[given.program]), {}, context)
    },
  },
  callTool('code_read', 'read', 'A coding program reads a file of its worktree.', Path, ({ path }) => ({ kind: 'read', paths: [path] })),
  callTool('code_edit', 'idempotent', 'A coding program changes a file of its worktree.', Path, ({ path }) => ({
    kind: 'edit',
    paths: [path],
  })),
  callTool('code_command', 'once', 'A coding program runs a command.', Place.extend({ command: Text }), ({ command }) => ({ command })),
  callTool('code_fetch', 'once', 'A coding program fetches an address.', Place.extend({ url: Text }), ({ url }) => ({ url })),
  callTool('code_other', 'once', 'Anything else that a coding program asks for.', Place.extend({ title: Text }), ({ title }) => ({
    title,
  })),
]

function callTool<Args extends z.infer<typeof Place>>(
  name: CodeCallName,
  effect: Tool['effect'],
  description: string,
  shape: z.ZodObject & z.ZodType<Args>,
  callOf: (args: Args) => Partial<CodingCall>,
): Tool {
  return {
    ...ruleTool(name, effect, description, shape),
    facts: async (given, context) => {
      const args = shape.parse(given)
      return factsOf(toolOfCall({ ...CALL, ...callOf(args) }, await placeOf(args, context)), {}, context)
    },
  }
}

function ruleTool(name: string, effect: Tool['effect'], description: string, args: z.ZodObject): Omit<Tool, 'facts'> {
  const run = () => Promise.reject(new Error('Coding programs run it by themselves.'))
  return { name, effect, description, args, parallel: false, run }
}

async function placeOf({ program: cli, folder, sandboxed, internet }: z.infer<typeof Place>, { folders }: ToolContext): Promise<CodePlace> {
  const repository = folder ?? folders[0]
  if (repository === undefined) throw new Error('Name the folder of the repository.')
  const real = await realpath(repository).catch(() => repository)
  return { cli, repository: real, folder: real, sandboxed, internet }
}
