import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../../platform/sandbox/leftovers.ts'
import { PathRefused, showName } from '../../files/folder-paths.ts'

export type SkillScripts = {
  /** Checked against what was installed. null: this agent may not use it. */
  open(agentId: string, name: string): Promise<OpenedSkill | null>
}

export type OpenedSkill = {
  digest: string
  /** Writes its files into an empty folder. */
  write(folder: string): Promise<void>
}

type NamedSkill = OpenedSkill & { name: string }

/** A whole argument: `skill:<name>` or a path below it. The name has no dots, and the path no way up. */
const IN_SKILL = /^skill:([a-z0-9-]{1,64})((?:\/(?!\.\.?(?:\/|$))[^/\0]+)*)\/?$/

/** The skills whose files a command names. Throws PathRefused for one that the agent may not use. */
export async function findSkills(command: readonly string[], agentId: string, skills: SkillScripts): Promise<NamedSkill[]> {
  const names = new Set(command.flatMap((argument) => IN_SKILL.exec(argument)?.[1] ?? []))
  return Promise.all(
    [...names].sort().map(async (name) => {
      const opened = await skills.open(agentId, name)
      if (opened === null) throw new PathRefused(`There is no usable skill '${showName(name)}'.`)
      return { ...opened, name }
    }),
  )
}

/** Copies that the sandbox can show: Deckhand's own folder is closed to every command. The caller removes them. */
export async function unpackSkills(skills: readonly NamedSkill[]) {
  const places = new Map<string, string>()
  const remove = async () => {
    for (const place of places.values()) await rm(place, { recursive: true, force: true })
  }
  try {
    for (const { name, write } of skills) {
      places.set(name, await temporaryFolder('skill'))
      await write(places.get(name)!)
    }
  } catch (error) {
    await remove()
    throw error
  }
  return {
    folders: [...places.values()],
    /** An argument as the command gets it. */
    placeOf(argument: string): string {
      const [, name, rest] = IN_SKILL.exec(argument) ?? []
      const place = places.get(name ?? '')
      return place === undefined ? argument : join(place, rest!)
    },
    remove,
  }
}
