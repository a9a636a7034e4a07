import { existsSync, symlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findProtected } from './find-protected.ts'
import { setAsideWhatAppeared } from './set-aside.ts'

it('sets aside what appeared, however many files are beside it', async () => {
  // Most disks take minutes for so many names when the machine is busy.
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm')
  onTestFinished(() => void vi.unstubAllEnvs())
  const work = await scratchFolder('Work')
  const before = await findProtected(work.path, Infinity)
  await work.write('.envrc', 'touch x')
  await work.write('.vscode/tasks.json')
  // More than a function takes as arguments.
  for (let at = 0; at < 130_000; at++) symlinkSync('x', work.at('.vscode', String(at)))
  const setAside = await setAsideWhatAppeared(before)
  expect(setAside.map(({ path }) => path).toSorted()).toEqual([work.at('.envrc'), work.at('.vscode')])
  expect((await readdir(work.path)).some((name) => name.startsWith('.'))).toBe(false)
})

it('sets aside what Python would run when it starts, and leaves files that only name folders', async () => {
  const work = await scratchFolder('Work')
  const packages = '.venv/lib/python3.13/site-packages'
  await work.write(`${packages}/kept.pth`, 'import os; os.getpid()')
  await work.write(`${packages}/changed.pth`, '/home/ada/project\n')
  await work.write(`${packages}/worse.pth`, 'import os')
  const before = await findProtected(work.path, Infinity)
  await work.write(`${packages}/__editable__.project.pth`, '/home/ada/import/src\n')
  await work.write(`${packages}/new.pth`, '/home/ada\r\nimport\tos; os.system("x")\n')
  await work.write(`${packages}/changed.pth`, '/home/ada/project\nimport os')
  await work.write(`${packages}/worse.pth`, 'import os; os.system("x")')
  await work.write('src/new.pth', 'import os')
  const setAside = await setAsideWhatAppeared(before)
  expect(setAside.map(({ path }) => path).toSorted()).toEqual(['changed', 'new', 'worse'].map((name) => work.at(packages, `${name}.pth`)))
  expect(setAside.every(({ to }) => to !== null && /\.pth\.set-aside-\w+$/.test(to))).toBe(true)
  expect(await setAsideWhatAppeared(before)).toEqual([])
})
