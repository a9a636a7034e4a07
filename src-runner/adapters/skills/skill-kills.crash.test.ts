import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { openDatabase } from '../../platform/db/open-database.ts'
import { systemClock } from '../../lib/clock.ts'
import { createIds } from '../../lib/ids.ts'
import { silentLog } from '../../lib/log.ts'
import { createSkillFolders } from '../../domain/skills/skill-folders.ts'
import { listSkills } from '../../domain/skills/skills.ts'
import { builtChild } from '../../testing/built-children.ts'
import { skillText } from '../../testing/archive-builders.ts'
import { scratchFolder, type ScratchFolder } from '../../testing/scratch-folder.ts'
import { createSkillInstaller } from './skill-installer.ts'

const CHILD = builtChild('skill-kill-child')
/** `npm run test:long` sets more, which are all the moments that there are. */
const KILLS = Number(process.env['KILLS'] ?? 3)
const isLong = process.env['KILLS'] !== undefined
/** So that one that hangs is noticed, however busy the machine is. */
const CHILD_MS = 30_000

function open(dataDir: string) {
  const db = openDatabase({ file: join(dataDir, 'deckhand.db'), clock: systemClock, keepsBallast: false })
  const skillFolders = createSkillFolders(join(dataDir, 'skills'))
  const ids = createIds(Date.now)
  const deps = { db, clock: systemClock, ids, log: silentLog, dataDir, fetch: createGuardedFetch(), skillFolders }
  return { db, skillFolders, installer: createSkillInstaller(deps) }
}

type Opened = ReturnType<typeof open>

/** Starts what a killed process left, and looks at it. */
async function lookAt<T>(dataDir: string, look: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = open(dataDir)
  try {
    return await look(opened)
  } finally {
    await opened.installer.stop()
    opened.db.close()
  }
}

async function write(place: ScratchFolder, word: string): Promise<void> {
  rmSync(place.at('source'), { recursive: true, force: true })
  await place.write('source/SKILL.md', skillText('shell-sorter', { body: word }))
  await place.write(`source/scripts/${word}.sh`, '#!/bin/sh\n')
  await place.write('source/docs/deep/sizes.md', word)
}

const WAYS = isLong ? ['install', 'update', 'save', 'remove'] : ['update']

it(
  'leaves the old or the new skill whole and nothing else, wherever the process is killed',
  { timeout: (KILLS + 8) * CHILD_MS },
  async () => {
    const place = await scratchFolder('kills')
    const source = place.at('source')
    const run = (dataDir: string, way: string, nth: number) => spawnSync(process.execPath, [CHILD, dataDir, way, source, String(nth)], { encoding: 'utf8' }) // prettier-ignore
    const digestsAfter = new Map<string, string[]>()
    const moments: { way: string; nth: number }[] = []
    for (const way of WAYS) {
      const before = place.at(`before-${way}`)
      await write(place, 'old')
      await lookAt(before, async ({ installer }) => {
        const files = [{ path: 'SKILL.md', text: skillText('shell-sorter') }, { path: 'docs/a.md', text: 'a' }] // prettier-ignore
        if (way === 'save') await installer.create({ files })
        else if (way !== 'install') await installer.install({ source })
      })
      const old = await lookAt(before, async ({ db }) => listSkills(db).map(({ digest }) => digest))
      cpSync(before, place.at(`after-${way}`), { recursive: true })
      if (way === 'update') await write(place, 'new')
      const { stdout, stderr } = run(place.at(`after-${way}`), way, 0)
      expect(Number(stdout), stderr).toBeGreaterThan(way === 'remove' ? 0 : 10)
      const now = await lookAt(place.at(`after-${way}`), async ({ db }) => listSkills(db).map(({ digest }) => digest))
      expect(now).not.toEqual(old)
      digestsAfter.set(way, [JSON.stringify(old), JSON.stringify(now)])
      for (let nth = 1; nth <= Number(stdout); nth++) moments.push({ way, nth })
    }
    const chosen = Array.from({ length: Math.min(KILLS, moments.length) }, (_, i) => moments[Math.floor((i * moments.length) / Math.min(KILLS, moments.length))]!) // prettier-ignore
    for (const { way, nth } of chosen) {
      const at = `${way}, before change ${nth}`
      const dataDir = place.at(`killed-${way}-${nth}`)
      cpSync(place.at(`before-${way}`), dataDir, { recursive: true })
      await write(place, way === 'update' ? 'new' : 'old')
      expect(run(dataDir, way, nth).signal, at).toBe('SIGKILL')
      await lookAt(dataDir, async ({ db, skillFolders, installer }) => {
        const skills = listSkills(db)
        expect(digestsAfter.get(way), at).toContain(JSON.stringify(skills.map(({ digest }) => digest)))
        for (const { digest, status } of skills) {
          expect(status, at).toBe('ready')
          expect((await skillFolders.load(digest))?.digest, at).toBe(digest)
        }
        installer.start()
        await expect.poll(() => readdirSync(join(dataDir, 'skills')), { message: at }).toEqual(skills.map(({ digest }) => digest.slice(7)))
        // And goes on as if nothing had happened.
        if (way === 'install') expect((await installer.install({ source })).status, at).toBe('ready')
      })
    }
  },
)
