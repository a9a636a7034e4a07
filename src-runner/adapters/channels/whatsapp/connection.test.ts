import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createHandClock } from '../../../testing/hand-clock.ts'
import { silentLog } from '../../../lib/log.ts'
import { inEnglish } from '../../../lib/messages.ts'
import { connect } from './connection.ts'
import { createKey, createLinkState, linkStateFile } from './link-state.ts'

test.each([
  ['written', '.part'],
  ['read', ''],
])('a link state that cannot be %s is tried again, and nobody has to link the account again', async (_what, suffix) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-whatsapp-'))
  const clock = createHandClock()
  const file = linkStateFile(dataDir, 'channel')
  const token = createKey()
  createLinkState(file, token).close()
  // As on a full disk, or while too many files are open.
  if (suffix === '') rmSync(file)
  mkdirSync(file + suffix)
  const statuses: string[] = []
  const connection = connect(
    { dataDir, fetch: () => expect.unreachable(), clock, log: silentLog, speech: () => inEnglish, random: () => 0.5, testServer: null },
    { channelId: 'channel', token, appToken: null, baseUrl: null },
    {
      incoming: () => expect.unreachable(),
      status: (status) => void statuses.push(status),
      roundTrip() {},
      knownChats: () => [],
      readFile: () => expect.unreachable(),
    },
  )
  try {
    await expect.poll(() => statuses).toEqual(['failing'])
    rmSync(file + suffix, { recursive: true })
    clock.advance(await clock.untilSleeping((ms) => ms <= 60_000))
    // It was never linked, which is known once it can be opened.
    await expect.poll(() => statuses).toEqual(['failing', 'logged_out'])
  } finally {
    await connection.close()
    rmSync(dataDir, { recursive: true })
  }
})
