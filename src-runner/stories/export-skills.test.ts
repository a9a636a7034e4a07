import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SKILL_LIMITS } from '../contract/skills.ts'
import { skillText } from '../testing/archive-builders.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { scratchFolder, type ScratchFolder } from '../testing/scratch-folder.ts'

let old: TestRunner
let fresh: TestRunner
let place: ScratchFolder
beforeEach(async () => {
  ;[old, fresh, place] = await Promise.all([createTestRunner(), createTestRunner(), scratchFolder('shells')])
  await place.write('SKILL.md', skillText('shell-sorter'))
})
afterEach(() => Promise.all([old.stop(), fresh.stop()]))

/** Skills of two kinds, given to the second of two agents. */
async function setUp() {
  const { client } = old
  await client.ok('createAgent', { body: { name: 'Ada' } })
  const { agent } = await client.ok('createAgent', { body: { name: 'Ben' } })
  const agents = [{ agentId: agent.id }]
  const { preview } = await client.ok('previewSkill', { body: { source: place.path } })
  await client.ok('installSkill', { body: { source: place.path, expectedDigest: preview.contents.digest, agents } })
  const files = [{ path: 'SKILL.md', text: skillText('shell-painter') }, { path: 'scripts/paint.sh', text: '#!/bin/sh\n' }] // prettier-ignore
  await client.ok('createSkill', { body: { files, agents } })
  return client.ok('exportSetup')
}

type Head = Awaited<ReturnType<typeof setUp>>
const importInto = (runner: TestRunner, head: Head, dryRun = false) => runner.client.ask('importSetup', { body: { head, dryRun } })
const skillsOf = async ({ client }: TestRunner) => (await client.ok('listSkills')).skills
const filesIn = ({ dataDir }: TestRunner) => readdirSync(join(dataDir, 'skills'))

describe('skills in an export', () => {
  it('wait for the person after an import, with the agents that had them, and are the same again in the next export', async () => {
    const head = await setUp()
    const preview = await importInto(fresh, head, true)
    expect(preview).toMatchObject({ status: 200, body: { result: { skills: ['shell-painter', 'shell-sorter'] } } })
    expect([await skillsOf(fresh), filesIn(fresh)], 'a preview makes nothing').toEqual([[], []])
    expect(await importInto(fresh, head)).toEqual(preview)
    expect((await fresh.client.ok('exportSetup')).setup.skills).toEqual(head.setup.skills)

    const [own, fromSource] = await skillsOf(fresh)
    expect([own, fromSource]).toMatchObject([
      { kind: 'own', status: 'imported', newPermissions: ['scripts'], agents: [{ agentName: 'Ben' }] },
      { kind: 'source', status: 'imported', source: place.path, agents: [{ agentName: 'Ben' }], contents: { files: [] } },
    ])
    // Nobody has seen it: its digest is only what the file says.
    const unseen = { params: { skillId: fromSource!.id }, body: { allowedDigest: fromSource!.digest } }
    expect(await fresh.client.ask('updateSkillSettings', unseen)).toMatchObject({ status: 409, body: { error: 'skill_has_changed' } })

    const seen = await fresh.client.ok('getSkill', { params: { skillId: own!.id } })
    expect(seen.text).toContain('shell-painter')
    const installed = await fresh.client.ok('updateSkillSettings', { params: { skillId: own!.id }, body: { allowedDigest: own!.digest } })
    expect(installed.skill).toMatchObject({ status: 'ready', kind: 'own', agents: [{ agentName: 'Ben' }] })

    const read = await fresh.client.ok('previewSkill', { body: { source: place.path } })
    expect(read.preview).toMatchObject({ installedSkillId: null, contents: { digest: fromSource!.digest } })
    const body = { source: place.path, expectedDigest: read.preview.contents.digest }
    expect((await fresh.client.ok('installSkill', { body })).skill).toMatchObject({
      id: fromSource!.id,
      status: 'ready',
      agents: [{ agentName: 'Ben' }],
    })
  })

  it('are given to the new agents where the same version is installed, and change nothing else there', async () => {
    const head = await setUp()
    const [painter, sorter] = head.setup.skills
    const setup = { ...head.setup, skills: [{ ...painter!, digest: `sha256:${'0'.repeat(64)}`, archive: null }, sorter!] }
    expect(await importInto(old, { ...head, setup })).toMatchObject({ status: 200, body: { result: { skills: [] } } })
    expect((await skillsOf(old)).map(({ status, agents }) => [status, agents.length])).toEqual([['ready', 1], ['ready', 2]]) // prettier-ignore
  })

  it('lose their agents if another source has a skill of the name', async () => {
    await importInto(fresh, await setUp())
    const other = await scratchFolder('other')
    await other.write('SKILL.md', skillText('shell-sorter', { body: 'Something else.' }))
    const { preview } = await fresh.client.ok('previewSkill', { body: { source: other.path } })
    const { skill } = await fresh.client.ok('installSkill', { body: { source: other.path, expectedDigest: preview.contents.digest } })
    expect(skill).toMatchObject({ status: 'ready', source: other.path, agents: [] })
  })

  it('can be removed before they are installed, with their files', async () => {
    await importInto(fresh, await setUp())
    for (const { id } of await skillsOf(fresh)) await fresh.client.ok('deleteSkill', { params: { skillId: id } })
    expect([await skillsOf(fresh), filesIn(fresh)]).toEqual([[], []])
  })

  it('of the own kind are in the file only if they are as they were saved', async () => {
    await setUp()
    for (const name of filesIn(old)) rmSync(join(old.dataDir, 'skills', name), { recursive: true })
    const head = await old.client.ok('exportSetup')
    expect(head.setup.skills.map(({ archive }) => archive)).toEqual([null, null])
    expect(await importInto(fresh, head)).toMatchObject({ body: { result: { skills: ['shell-sorter'] } } })
  })

  it.each<[string, (skills: Head['setup']['skills'], evil: string) => object[], string]>([
    ['a name with a way out', ([one]) => [{ ...one!, name: '../../x' }], 'import_invalid'],
    ['a source that means another kind', (skills) => [{ ...skills[1]!, source: 'file:x.zip' }], 'import_invalid'],
    ['an agent that is not there', (skills) => [{ ...skills[1]!, agents: [7] }], 'import_broken'],
    ['files of a skill that has a source', ([one, two]) => [{ ...two!, archive: one!.archive }], 'import_invalid'],
    ['other files than its digest says', ([one], evil) => [{ ...one!, archive: evil }], 'import_invalid'],
    ['another name than its files say', ([one]) => [{ ...one!, name: 'shell-polisher' }], 'import_invalid'],
    ['files that are no archive', ([one]) => [{ ...one!, archive: 'QUFBQQ==' }], 'skill_source_no_archive'],
  ])('are refused with %s, and nothing is made', async (_, change, code) => {
    const head = await setUp()
    const { id } = (await skillsOf(old))[1]!
    const evil = (await old.client.ok('exportSkill', { params: { skillId: id } })).base64
    const skills = change(head.setup.skills, evil)
    const answer = await importInto(fresh, { ...head, setup: { ...head.setup, skills } } as Head)
    expect(answer).toMatchObject({ status: 422, body: { error: 'import_refused', detail: { code } } })
    expect([await skillsOf(fresh), filesIn(fresh), (await fresh.client.ok('listAgents')).agents]).toEqual([[], [], []])
  })

  it('are refused if they are small files that become too large together', async () => {
    const head = await setUp()
    const large = await scratchFolder('large')
    const zeros = Buffer.alloc(SKILL_LIMITS.bytes * 0.6)
    await large.write('SKILL.md', skillText('shell-sorter'))
    await large.write('zeros.bin', zeros)
    const { digest } = (await old.client.ok('previewSkill', { body: { source: large.path } })).preview.contents
    const files = { 'shell-sorter/SKILL.md': strToU8(skillText('shell-sorter')), 'shell-sorter/zeros.bin': zeros }
    const archive = Buffer.from(zipSync(files)).toString('base64')
    const one = { ...head.setup.skills[0]!, name: 'shell-sorter', digest, archive }
    expect(await importInto(fresh, { ...head, setup: { ...head.setup, skills: [one, one] } }, true)).toMatchObject({
      status: 422,
      body: { error: 'import_refused', detail: { code: 'archive_too_large' } },
    })
    expect(filesIn(fresh)).toEqual([])
  })
})
