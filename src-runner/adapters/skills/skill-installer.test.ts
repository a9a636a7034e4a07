import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listSkills } from '../../domain/skills/skills.ts'
import { skillText } from '../../testing/archive-builders.ts'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { openSkillRig, type SkillRig } from '../../testing/skill-rig.ts'

const HOUR_MS = 3_600_000

let rig: SkillRig
let place: ScratchFolder
beforeEach(async () => {
  rig = openSkillRig()
  place = await scratchFolder('shells')
  await place.write('SKILL.md', skillText('shell-sorter'))
})
afterEach(() => rig.close())

const skill = () => listSkills(rig.db)[0]!

it('looks for an update a day after the last look, says why it could not, and installs nothing by itself', async () => {
  const { digest } = await rig.installer.install({ source: place.path })
  await place.write('SKILL.md', skillText('shell-sorter', { body: 'Sort them better.' }))
  rig.clock.advance(23 * HOUR_MS)
  await rig.installer.checkDue()
  expect(skill()).toMatchObject({ hasUpdate: false, digest })
  rig.clock.advance(HOUR_MS)
  await rig.installer.checkDue()
  expect(skill()).toMatchObject({ hasUpdate: true, digest, checkedAt: rig.clock.now(), checkProblem: null })
  rmSync(place.path, { recursive: true })
  rig.clock.advance(24 * HOUR_MS)
  await rig.installer.checkDue()
  expect(skill()).toMatchObject({ hasUpdate: true, digest, checkProblem: { code: 'skill_source_missing' } })
})

it('notices with the daily look that files were changed', async () => {
  const { digest } = await rig.installer.install({ source: place.path })
  rmSync(join(rig.folderOf(digest), 'SKILL.md'))
  rig.clock.advance(24 * HOUR_MS)
  await rig.installer.checkDue()
  expect(skill()).toMatchObject({ status: 'changed' })
})

it('keeps the files of removed skills while replaced data, which may name them, lies beside the database', async () => {
  const { digest } = await rig.installer.install({ source: place.path })
  const replaced = `${rig.db.file}.replaced-20260101T000000Z`
  writeFileSync(replaced, '')
  await rig.installer.uninstall(skill)
  expect(existsSync(rig.folderOf(digest))).toBe(true)
  rmSync(replaced)
  await rig.installer.install({ source: place.path })
  await rig.installer.uninstall(skill)
  expect(existsSync(rig.folderOf(digest))).toBe(false)
})
