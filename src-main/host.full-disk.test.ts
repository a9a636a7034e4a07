import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { mountSmallDisk } from '../src-runner/testing/small-disk.ts'
import { createHost } from './host.ts'
import { createForkedRunner } from './runner/forked-runner.ts'
import { readEnvironment } from './settings/environment.ts'
import { readLinkFile } from './settings/link-file.ts'

const FIXTURE = fileURLToPath(new URL('testing/fixture-runner.ts', import.meta.url))
const CODE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))

it('serves the dashboard on a full disk, and the command line finds it when there is room', async ({ skip }) => {
  const disk = mountSmallDisk(1) ?? skip('a small disk cannot be mounted')
  onTestFinished(() => disk.remove())
  const env = { DECKHAND_DATA_DIR: disk.folder, DECKHAND_VAULT: 'file', DASHBOARD_PORT: '0' }
  const host = createHost({
    appVersion: '0.0.0',
    environment: readEnvironment({ env, platform: process.platform, home: disk.folder, cwd: disk.folder }),
    preferredLanguages: () => ['en'],
    assets: null,
    spawn: createForkedRunner({ entry: FIXTURE, codeCache: CODE_CACHE }),
  })
  onTestFinished(() => host.stop())
  await host.supervisor.start()
  const told: string[] = []
  host.onDashboardState(({ state }) => told.push(state))
  disk.fill()
  await host.startServer()
  expect([told, readLinkFile(disk.folder)]).toEqual([['ready'], null])
  disk.free()
  await host.startServer()
  expect(readLinkFile(disk.folder)?.url).toMatch(/^http:/)
})
