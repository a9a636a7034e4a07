import { fileURLToPath } from 'node:url'
import { createHost, type Host, type HostOptions } from '../host.ts'
import { createForkedRunner } from '../runner/forked-runner.ts'
import { readEnvironment } from '../settings/environment.ts'

const path = (to: string) => fileURLToPath(new URL(to, import.meta.url))
const ENTRY = path('../../out/main/runner.js')
const CODE_CACHE = path('../../node_modules/.cache/node')

/** A host without a page on the data in `folder`. It starts nothing. */
export function createTestHost(folder: string, env: Record<string, string>, network?: HostOptions['network']): Host {
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
    spawn: createForkedRunner({ entry: ENTRY, codeCache: CODE_CACHE, env: { PATH: process.env['PATH'], HOME: folder, SHELL: '/bin/sh' } }),
  })
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
