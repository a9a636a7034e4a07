import { join } from 'node:path'
import { z } from 'zod'
import { CODING_PROGRAM_NAMES, CodingCli } from '../../../contract/coding-programs.ts'
import { createMessage } from '../../../lib/messages.ts'
import { cutText } from '../../../lib/text.ts'
import { nameFolders, parsePath, PathRefused } from '../../files/folder-paths.ts'
import { defineTool, NO_EFFECTS, type Tool, type ToolContext } from '../tool.ts'

export const CODE_TASK = 'code_task'

export const CodeTaskArgs = z.object({
  task: z.string().trim().min(1).max(200_000).describe('The complete task. The program sees the repository, and nothing else of this job.'),
  folder: z.string().describe("The repository: one of the agent's folders or a folder inside it."),
  program: CodingCli.optional().describe('Which program. Default: the first that is installed.'),
  internet: z.boolean().default(false).describe('Whether commands of the program need the network, for example to install packages.'),
})

export type CodeTaskToolDeps = {
  /** Programs of this machine, as of the last look. */
  installed: () => readonly CodingCli[]
  /** Whether one of its folders is a repository or has one, as of the last look. */
  hasRepository: (agentId: string) => boolean
  /** Throws AppError if no task can be given there. Returns the root of the repository. */
  examine(
    context: Pick<ToolContext, 'agentId' | 'onBehalfOf'>,
    given: { cli: CodingCli; folder: string; internet: boolean },
  ): Promise<{ repository: string }>
}

const DESCRIPTION =
  'Gives a coding task to a coding program, which works in a Git worktree of its own and leaves a branch with its changes. Returns what it says and the name of ' +
  'the branch. A person takes the branch over. Its costs count against your limits.'

/** Never runs: the tool policy starts a job of the program, and this job waits until that one has ended. */
export function codeTaskTool({ installed, hasRepository, examine }: CodeTaskToolDeps): Tool {
  const tool = defineTool({
    name: CODE_TASK,
    description: DESCRIPTION,
    args: CodeTaskArgs,
    effect: 'idempotent',
    parallel: true,
    async facts({ task, internet, ...given }, context) {
      const cli = programFor(given.program, installed())
      const { repository } = await examine(context, { cli, internet, folder: folderFor(given.folder, context) })
      const params = { program: CODING_PROGRAM_NAMES[cli], folder: repository, task: cutText(task, 300), internet: internet ? 'yes' : 'no' }
      return {
        ...NO_EFFECTS,
        subject: internet ? `${cli} internet` : cli,
        paths: [repository],
        runsCode: true,
        leavesMachine: true,
        costsMoney: true,
        delegates: true,
        effectOn: createMessage('effect_code_task', params),
      }
    },
    async run() {
      return { ok: false, output: 'There are no coding programs here.' }
    },
  })
  const made = new Map<string, Tool>()
  return {
    ...tool,
    /** Others pay no tokens for it. */
    forAgent(agentId) {
      const programs = installed()
      if (programs.length === 0 || !hasRepository(agentId)) return null
      const key = programs.join()
      if (!made.has(key)) made.set(key, { ...tool, description: `${DESCRIPTION} Installed: ${key}.` })
      return made.get(key)!
    },
  }
}

/** Throws if none is installed. */
export function programFor(named: CodingCli | undefined, installed: readonly CodingCli[]): CodingCli {
  const cli = named ?? installed[0]
  if (cli === undefined) throw new Error('No coding program is installed.')
  return cli
}

/** The absolute path of a folder that a model names. Throws PathRefused. */
export function folderFor(text: string, { folders, closedFolders }: Pick<ToolContext, 'folders' | 'closedFolders'>): string {
  const place = parsePath(text, nameFolders(folders, { closedFolders }))
  if (place === null) throw new PathRefused("Name the folder: one of the agent's folders or a folder inside it.")
  return join(place.folder.path, ...place.parts)
}
