import { writeSkillFiles } from '../domain/skills/skill-folders.ts'
import { loadSkill, type LoadDeps } from '../domain/skills/load-skill.ts'
import { readSkillHead } from '../domain/skills/skill-head.ts'
import { textOf } from '../domain/skills/skill-package.ts'
import { listSkillsOfAgent } from '../domain/skills/skills.ts'
import type { RunCommandDeps } from '../agent/tools/run-command/run-command.ts'
import type { SkillsOfAgents } from '../agent/tools/use-skill/use-skill.ts'

/** The skills that a person selected for an agent, without those that are blocked or wait for consent. Read at each use. */
export function createAgentSkills(deps: LoadDeps): SkillsOfAgents & RunCommandDeps['skills'] {
  const usable = (agentId: string) => listSkillsOfAgent(deps.db, agentId).filter(({ status }) => status === 'ready')
  const load = async (agentId: string, name: string) => {
    const skill = usable(agentId).find(({ slug }) => slug === name)
    return skill === undefined ? null : loadSkill(deps, skill)
  }
  return {
    async open(agentId, name) {
      const files = await load(agentId, name)
      return files === null ? null : { digest: files.digest, write: (folder) => writeSkillFiles(folder, files) }
    },
    list: (agentId) => usable(agentId).map(({ name, description }) => ({ name, description })),
    async read(agentId, name) {
      const files = await load(agentId, name)
      if (files === null) return null
      const { head, body } = readSkillHead(files)
      return {
        body,
        author: head.author,
        allowedTools: head.allowedTools,
        files: files.files.map(({ path, bytes }) => ({ path, bytes: bytes.length })),
        readFile(path) {
          const file = files.files.find((one) => one.path === path)
          return file === undefined ? null : { text: textOf(file) }
        },
      }
    },
  }
}
