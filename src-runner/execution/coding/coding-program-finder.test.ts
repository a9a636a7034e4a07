import { chmod, mkdir, readdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import { asPlainAccount } from '../../testing/other-account.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { createCodingProgramFinder } from './coding-program-finder.ts'

it('deletes a home in which a program left read-only folders, as Go does with its modules', async () => {
  const scratch = await scratchFolder()
  const nowhere = { listProgramFolders: async () => [], closedFolders: () => [] }
  const finder = createCodingProgramFinder({ clock: createHandClock(), dataDir: scratch.path, home: scratch.at('home'), ...nowhere })
  await chmod(scratch.path, 0o777)
  await asPlainAccount(async () => {
    const module = scratch.at('code', 'job-1.home', 'go', 'pkg', 'mod', 'color@v1.18.0')
    await mkdir(module, { recursive: true })
    await scratch.write('code/job-1.home/go/pkg/mod/color@v1.18.0/color.go')
    await chmod(module, 0o555)
    expect(await finder.listHomes()).toEqual(['job-1'])
    await finder.forget('job-1')
    await finder.forget('job-2')
  })
  expect(await readdir(scratch.at('code'))).toEqual([])
})
