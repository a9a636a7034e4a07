import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHandClock } from '../../../testing/hand-clock.ts'
import { createKey, createLinkState } from './link-state.ts'
import { createUndecrypted } from './undecrypted.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'deckhand-undecrypted-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('keeps the latest hundred, each with the time at which it first came', () => {
  const clock = createHandClock()
  const state = createLinkState(join(folder, 'link'), createKey())
  const undecrypted = createUndecrypted(state, clock)
  const add = (id: number) => undecrypted.add({ key: { id: String(id), remoteJid: '49151@s.whatsapp.net' } })
  for (let id = 1; id <= 150; id++) add(id)
  clock.advance(5 * 60_000)
  add(150)
  add(151)
  clock.advance(5 * 60_000)
  expect(undecrypted.listLost().map(({ key }) => Number(key.id))).toEqual(Array.from({ length: 99 }, (_, i) => i + 52))
  state.close()
})
