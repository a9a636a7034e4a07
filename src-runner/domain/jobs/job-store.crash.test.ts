import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../platform/db/open-database.ts'
import { systemClock } from '../../lib/clock.ts'
import { builtChild } from '../../testing/built-children.ts'

const CHILD = builtChild('crash-child')
const KILLS = Number(process.env['KILLS'] ?? 8)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-crash-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The output of the child until it was killed, within `lines` further lines. */
function runAndKill(file: string, lines: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, file], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    let trouble = ''
    let killed = false
    child.stderr.on('data', (data: Buffer) => (trouble += data.toString()))
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
      if (killed || said.split('\n').length < lines) return
      killed = true
      child.kill('SIGKILL')
    })
    child.on('close', () => {
      if (!killed) return reject(new Error(`the child ended by itself: ${trouble}`))
      // An incomplete last line does not count.
      resolve(said.split('\n').slice(0, -1))
    })
  })
}

test(
  `killed ${KILLS} times in the middle of its work, the runner keeps all it accepted and all it ended, once`,
  async () => {
    const file = join(folder, 'deckhand.db')
    const accepted = new Set<string>()
    const ended = new Set<string>()
    for (let i = 0; i < KILLS; i++) {
      for (const line of await runAndKill(file, 2 + ((i * 37) % 120))) {
        if (line.startsWith('+')) accepted.add(line.slice(1))
        if (line.startsWith('=')) ended.add(line.slice(1))
      }
    }
    const db = openDatabase({ file, clock: systemClock })
    try {
      expect(accepted.size).toBeGreaterThan(KILLS * 10)
      expect(ended.size).toBeGreaterThan(KILLS)
      const jobs = db
        .prepare<{ id: string; status: string; steps: number; turns: number }>('SELECT id, status, steps, turns FROM agent_jobs')
        .all()
      const byId = new Map(jobs.map((job) => [job.id, job]))
      expect([...accepted].filter((id) => !byId.has(id))).toEqual([])
      expect([...ended].filter((id) => byId.get(id)?.status !== 'completed')).toEqual([])
      const wrongSteps = db
        .prepare('SELECT id FROM agent_jobs AS job WHERE steps <> (SELECT count(*) FROM job_steps WHERE job_seq = job.seq)')
        .all()
      expect(wrongSteps).toEqual([])
      // A job that failed after a second crash also has a result if it had replies.
      const answered = db.prepare<{ job_id: string }>("SELECT job_id FROM messages WHERE role = 'assistant'").all()
      const once = new Set(answered.map((answer) => answer.job_id))
      expect(answered).toHaveLength(once.size)
      expect(jobs.filter((job) => job.status === 'completed' && !once.has(job.id))).toEqual([])
      expect([...once].filter((id) => !['completed', 'failed'].includes(byId.get(id)!.status))).toEqual([])
      expect(await db.findDamage()).toEqual([])
    } finally {
      db.close()
    }
  },
  KILLS * 6000,
)
