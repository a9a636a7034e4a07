import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageFor } from './system-packages.mjs'

const root = join(import.meta.dirname, '..')
const { scripts, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
  engines: { node: string }
}

/** Makes a process take itself for another version of Node. */
const pretend = (version: string) =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`

const OLD = ['18.20.8', '20.0.0', '20.10.0']

it.each(Object.keys(scripts))('npm run %s says in one line which Node it needs', (name) => {
  const [node, ...args] = scripts[name]!.split(' ')
  expect(node).toBe('node')
  for (const version of name === 'start' ? OLD : OLD.slice(0, 1)) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend(version), ...args], { cwd: root, encoding: 'utf8' })
    const line = `✗ Deckhand needs Node 20.11 or newer to start from source; this is ${version}.\n`
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: line })
  }
})

it('npm is told of the same version', () => expect(engines.node).toBe('>=20.11'))

it.each([
  ['a newer Ubuntu, where the old name is a virtual package', ['libasound2t64'], 'libasound2t64'],
  ['an older release', ['libasound2'], 'libasound2'],
  ['a machine whose package lists have not been fetched', [], 'libasound2t64'],
])('names the sound library as %s does', (_, known, name) => {
  expect(packageFor(['libasound2t64', 'libasound2'], (candidate: string) => known.includes(candidate))).toBe(name)
})
