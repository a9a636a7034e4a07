import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHandClock } from '../testing/hand-clock.ts'
import type { TestRunner } from '../testing/create-test-runner.ts'
import { startMcpRig, type McpRig } from '../testing/mcp-rig.ts'
import { addHostileServer } from '../testing/mcp-server/hostile-server.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { isMissing } = await findSandboxHere('bubblewrap')
const MINUTE_MS = 60_000

describe.skipIf(isMissing)('the program of an MCP server', () => {
  const clock = createHandClock()
  let rig: McpRig
  let runner: TestRunner
  beforeAll(async () => {
    rig = await startMcpRig({ clock })
    runner = rig.runner
  })
  afterAll(() => runner.stop())

  async function add(name: string) {
    const server = await addHostileServer(rig, { name })
    await server.accept({ look: 'read', slow: 'read', die: 'idempotent' })
    const call = (tool: string) => rig.run(`${name}__${tool}`, { word: 'tea' })
    const read = async () => (await runner.client.ok('getMcpServer', { params: { mcpServerId: server.server.id } })).server
    return { ...server, call, read }
  }

  it('is stopped when nobody has used it for five minutes, not during a call, and starts again for the next one', async () => {
    const idle = await add('idle')
    const slow = await rig.start({ name: 'idle__slow' }, { ends: false })
    await expect.poll(idle.calls).toEqual(['slow {}'])
    clock.advance(6 * MINUTE_MS)
    expect(await idle.call('look')).toContain('You said tea.')
    await runner.client.ok('cancelJob', { params: { jobId: slow } })
    await runner.ended(slow)
    expect(await idle.call('look')).toContain('You said tea.')
    clock.advance(5 * MINUTE_MS - 1)
    expect([(await idle.read()).status, idle.processes().length > 0, idle.starts()]).toEqual(['running', true, 1])
    clock.advance(1)
    await expect.poll(idle.processes).toEqual([])
    expect((await idle.read()).status).toBe('stopped')
    expect(await idle.call('look')).toContain('You said tea.')
    expect(idle.starts()).toBe(2)
  })

  it('is ended and started again if it hangs, while other servers are called', async () => {
    const [hung, calm] = [await add('hung'), await add('calm')]
    await hung.call('look')
    const mend = hung.spoil('hung')
    clock.advance(MINUTE_MS)
    // Both at the same time: one check is enough, and neither loses the new program.
    const toolCalls = ['a', 'b'].map((id) => ({ id, name: 'hung__look', args: { word: id } }))
    runner.modelServer.play({ toolCalls })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: rig.agent.id } })
    await clock.untilSleeping((ms) => ms === 5_000)
    expect(await calm.call('look')).toContain('You said tea.')
    mend()
    runner.modelServer.play({ text: ['Done.'] })
    clock.advance(5_000)
    const outputs = await rig.outputsOf(jobId)
    expect(outputs.map((output) => /You said \w+/.exec(output)?.[0])).toEqual(['You said a', 'You said b'])
    expect([hung.starts(), hung.calls().length]).toEqual([2, 3])
  })

  it('is started again at once after one failure, later after more of them, and at once again after an answered call', async () => {
    const weak = await add('weak')
    const waits = async () => Number(/again in (\d+) second/.exec(await weak.call('look'))?.[1] ?? 0)
    await weak.call('die')
    expect(await waits()).toBe(0)
    await weak.call('die')
    await weak.call('die')
    const mend = weak.spoil('broken')
    for (const seconds of [2, 4, 8]) {
      expect(await waits()).toBe(seconds)
      clock.advance(seconds * 1_000)
      expect(await weak.call('look')).toContain('exited with code 4')
    }
    mend()
    expect([await waits(), weak.starts()]).toEqual([16, 3])
    clock.advance(16_000)
    expect(await weak.call('look')).toContain('You said tea.')
    await weak.call('die')
    expect(await weak.call('look')).toContain('You said tea.')
    expect(weak.starts()).toBe(5)
  })
})
