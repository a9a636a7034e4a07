import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { listSourceFiles } from './source-files.mjs'

const emptyFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it('lists no files where there is no repository or nothing in it, but fails', async () => {
  const folder = emptyFolder()
  await expect(listSourceFiles(folder)).rejects.toThrow(/^git cannot list the files .* not a git repository/s)
  spawnSync('git', ['init', '-q', folder])
  await expect(listSourceFiles(folder)).rejects.toThrow('git lists no files')
})
