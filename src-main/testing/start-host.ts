import { fileURLToPath } from 'node:url'
import { createHost, type Host, type HostOptions } from '../host.ts'
import { createForkedRunner } from '../runner/forked-runner.ts'
import type { SpawnRunner } from '../runner/runner-process.ts'
import { readEnvironment } from '../settings/environment.ts'

const path = (to: string) => fileURLToPath(new URL(to, import.meta.url))
const ENTRY = path('../../out/main/runner.js')
const CODE_CACHE = path('../../node_modules/.cache/node')

const FIXTURE = path('./fixture-runner.ts')

type TestOptions = Pick<HostOptions, 'network'> & {
  /** What stands in for the runner at each start, see fixture-runner.ts; the last one also at later starts. Left out: the built runner. */
  fixtures?: [object, ...object[]]
}

/** A host without a page on the data in `folder`. It starts nothing. */
export function createTestHost(folder: string, env: Record<string, string>, { network, fixtures }: TestOptions = {}): Host {
  return createHost({
    appVersion: '0.0.0',
    environment: readEnvironment({
      env: { DECKHAND_DATA_DIR: folder, DECKHAND_VAULT: 'file', ...env },
      platform: process.platform,
      home: folder,
      cwd: folder,
    }),
    preferredLanguages: () => ['en'],
    assets: null,
    network,
    spawn: fixtures ? spawnFixtures(fixtures) : spawnIn(ENTRY, { PATH: process.env['PATH'], HOME: folder, SHELL: '/bin/sh' }),
  })
}

const spawnIn = (entry: string, env: NodeJS.ProcessEnv) => createForkedRunner({ entry, codeCache: CODE_CACHE, env })

function spawnFixtures(fixtures: [object, ...object[]]): SpawnRunner {
  let starts = 0
  return () => {
    const fixture = fixtures[Math.min(starts++, fixtures.length - 1)]
    return spawnIn(FIXTURE, { ...process.env, FIXTURE: JSON.stringify(fixture) })()
  }
}

/** The same with both of its servers. Rejects unless the runner becomes ready. */
export async function startHost(...given: Parameters<typeof createTestHost>): Promise<Host> {
  const host = createTestHost(...given)
  await host.startServer()
  const { state } = await host.supervisor.start()
  if (state === 'ready') return host
  await host.stop()
  throw new Error(`the runner is ${state}`)
}
