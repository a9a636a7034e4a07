import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSkillFolders } from '../domain/skills/skill-folders.ts'
import { packSkill } from '../domain/skills/skill-package.ts'
import { scratchFolder } from '../testing/scratch-folder.ts'
import { copySkills, listSkillsOfBackup, restoreSkills } from './skill-backups.ts'

const version = (text: string) => packSkill([{ path: 'SKILL.md', bytes: Buffer.from(text) }])
const [OLD, NEW] = [version('old'), version('new')]

it('keeps a version until the last backup that needs it is gone, and all of them while a list cannot be read', async () => {
  const place = await scratchFolder('backups')
  const folders = createSkillFolders(place.at('skills'))
  const folder = place.at('backups')
  const kept = () => readdirSync(join(folder, 'skills')).sort()
  const make = async (name: string, ...skills: (typeof OLD)[]) => {
    const digests = skills.map(({ digest }) => digest)
    for (const skill of skills) await folders.keep(skill)
    await copySkills(digests, folders, folder)
    writeFileSync(join(folder, name), '')
    await listSkillsOfBackup(name, digests, folder)
  }
  const names = (...skills: (typeof OLD)[]) => skills.map(({ digest }) => digest.slice(7)).sort()

  await make('1.db', OLD)
  await make('2.db', OLD, NEW)
  expect(kept()).toEqual(names(OLD, NEW))
  rmSync(join(folder, '1.db'))
  await make('3.db', NEW)
  expect(kept()).toEqual(names(OLD, NEW))
  writeFileSync(join(folder, '3.db.skills'), '["../../escaped"]')
  rmSync(join(folder, '2.db'))
  await make('4.db', NEW)
  expect(kept()).toEqual(names(OLD, NEW))
  rmSync(join(folder, '3.db'))
  await make('5.db', NEW)
  expect(kept()).toEqual(names(NEW))
  expect(readdirSync(folder).sort()).toEqual(['4.db', '4.db.skills', '5.db', '5.db.skills', 'skills'])

  await folders.sweep([])
  expect(await restoreSkills([OLD.digest, NEW.digest], folders, folder)).toEqual([OLD.digest])
  expect(await folders.load(NEW.digest)).toEqual(NEW)
})
