import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeSampleFolder } from './sample-folder.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sample-home-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

it('creates files in the documents folder, or else in the home', async () => {
  expect(await makeSampleFolder(home)).toBe(join(home, 'Deckhand sample'))
  mkdirSync(join(home, 'Documents'))
  const folder = await makeSampleFolder(home)
  expect(folder).toBe(join(home, 'Documents', 'Deckhand sample'))
  expect(readdirSync(folder)).toHaveLength(4)
})

it('keeps existing files', async () => {
  const folder = await makeSampleFolder(home)
  writeFileSync(join(folder, 'expenses.csv'), 'mine')
  expect(await makeSampleFolder(home)).toBe(folder)
  expect(readFileSync(join(folder, 'expenses.csv'), 'utf8')).toBe('mine')
})
