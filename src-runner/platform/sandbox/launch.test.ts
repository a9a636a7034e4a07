import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { launchInSeatbelt } from './launch.ts'
import type { SandboxOptions, SeatbeltSetup } from './sandbox-types.ts'

const setup: SeatbeltSetup = { kind: 'seatbelt', sandboxExec: '/usr/bin/sandbox-exec', sh: '/bin/sh' }

/** Only macOS can run what it launches. */
async function launch(network: SandboxOptions['network']) {
  const folder = (await scratchFolder('Work')).path
  const sandbox = { kind: 'seatbelt', works: true, reason: null, advice: null, network: { works: true, reason: null, advice: null }, checkedAt: 0, setup } as const // prettier-ignore
  const command = ['/bin/sh', '-c', 'true'] as const
  const launched = await launchInSeatbelt(setup, { sandbox, command, folder, writable: [folder], network: network!, timeoutMs: 1_000 })
  onTestFinished(() => launched.cleanUp())
  return { profile: launched.args[1]!, proxy: launched.env['HTTPS_PROXY'] }
}

function statusOf(proxy: string, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(proxy)
    request({ hostname, port, path: url }, (answer) => resolve(answer.resume().statusCode!)).on('error', reject).end() // prettier-ignore
  })
}

it.skipIf(process.platform === 'win32')('gives Seatbelt a proxy of its own, which reaches only the hosts that were opened', async () => {
  const { profile, proxy } = await launch({ hosts: ['no-such-host.invalid'] })
  expect(profile).toContain(`(allow network-outbound (remote ip "localhost:${new URL(proxy!).port}"))`)
  expect(await statusOf(proxy!, 'http://example.com/')).toBe(403)
  // It was looked up, and not found.
  expect(await statusOf(proxy!, 'http://no-such-host.invalid/')).toBe(502)
  const open = await launch(true)
  expect(await statusOf(open.proxy!, 'http://no-such-host.invalid/')).toBe(502)
  expect(await statusOf(open.proxy!, 'http://127.0.0.1/')).toBe(403)
  const none = await launch(false)
  expect(none.proxy).toBeUndefined()
  expect(none.profile).not.toContain('network')
})
