import { systemClock } from '../lib/clock.ts'
import { createIds } from '../lib/ids.ts'
import { insertChannel } from '../domain/channels/channels.ts'
import type { TestRunner } from './create-test-runner.ts'

/** A channel in the database that nothing connects: what needs a channel is allowed, and nothing is sent. */
export function addChannel(runner: Pick<TestRunner, 'write'>, agentId: string): void {
  const id = createIds(systemClock.now).next()
  const channel = { id, agentId, kind: 'telegram', account: { accountId: id, name: '@a_bot', link: null }, baseUrl: null } as const
  runner.write((tx) => insertChannel(tx, { clock: systemClock }, channel))
}
