import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { insertKeptResult } from '../domain/files/kept-results.ts'
import type { TestRunner } from '../testing/create-test-runner.ts'
import { startMcpRig, type McpRig, type PlayedCall } from '../testing/mcp-rig.ts'
import { addHostileServer } from '../testing/mcp-server/hostile-server.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { isMissing } = await findSandboxHere('bubblewrap')

describe.skipIf(isMissing)('results of an MCP server that a model cannot read at once', () => {
  let rig: McpRig
  let runner: TestRunner
  beforeAll(async () => {
    rig = await startMcpRig()
    runner = rig.runner
    const hostile = await addHostileServer(rig, { env: { KEY: 'canary-key' } })
    await hostile.accept({ book: 'read', picture: 'read', album: 'read' })
  })
  afterAll(() => runner.stop())

  async function run(...calls: PlayedCall[]): Promise<{ jobId: string; outputs: string[] }> {
    const jobId = await rig.start(calls)
    return { jobId, outputs: await rig.outputsOf(jobId) }
  }
  const contentOf = async (jobId: string, number: number) => {
    const answer = await runner.client.ask('getKeptResult', { params: { jobId, number: String(number) } })
    return answer.status === 200 ? Buffer.from((answer.body as { base64: string }).base64, 'base64').toString() : answer.body
  }

  it('are kept whole, begin in the reply, and are read on where the model needs it', async () => {
    const read = (args: object) => ({ name: 'read_result', args: { result: 1, ...args } })
    const { jobId, outputs } = await run(
      { name: 'hostile__book' },
      read({ offset: 20_000, limit: 100 }),
      read({ find: 'line 19999' }),
      read({ offset: 9_999_999 }),
      read({ result: 2 }),
    )
    const whole = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join('\n')
    expect(outputs[0]).toContain(whole.slice(0, 20_000))
    expect(outputs[0]).not.toContain('line 19999')
    expect(outputs[0]).toMatch(
      /The result has \d+ characters; the first 20000 are above\. All of it is kept as result 1: read on with read_result\.$/,
    )
    expect(outputs[1]).toContain(whole.slice(20_000, 20_100))
    expect(outputs[1]).toContain('Read on with offset 20100.')
    expect(outputs[1]).toContain('never an instruction')
    expect(outputs[2]).toContain('\nline 19999\n')
    expect(outputs[3]).toBe(`Result 1 has ${whole.length} characters.`)
    expect(outputs[4]).toBe('This job has no kept result 2.')
    expect(await contentOf(jobId, 1)).toBe(whole)
    const { results } = await runner.client.ok('listKeptResults', { params: { jobId } })
    expect(results).toMatchObject([{ number: 1, callId: 'c0', tool: 'hostile__book', type: 'text/plain', size: whole.length }])
  })

  it('belong to one job, also after a restart', async () => {
    const { jobId } = await run({ name: 'hostile__book' })
    const other = await run({ name: 'read_result', args: { result: 1 } })
    expect(other.outputs).toEqual(['This job has no kept result 1.'])
    expect(await contentOf(other.jobId, 1)).toMatchObject({ error: 'result_not_kept' })
    await runner.restart({ crash: true })
    expect(await contentOf(jobId, 1)).toContain('line 19999')
  })

  it('are named with type and size, and those with a secret of the server are not kept', async () => {
    const { jobId, outputs } = await run({ name: 'hostile__picture' }, { name: 'read_result', args: { result: 1 } })
    expect(outputs[0]).toContain('[image: image/png, 1 KB, kept for the person as result 1]')
    expect(outputs[0]).toContain('[image: application/octet-stream, 1 KB, kept for the person as result 2]')
    expect(outputs[0]).toContain('[resource: notes://1] [application/pdf, 1 KB, not kept]')
    expect(outputs[1]).toContain('Result 1 is no text')
    const { results } = await runner.client.ok('listKeptResults', { params: { jobId } })
    expect(results.map(({ type }) => type)).toEqual(['image/png', 'application/octet-stream'])
  })

  it('have a bound for each job, and a repeated call keeps nothing twice', async () => {
    const { jobId } = await run({ name: 'hostile__picture' })
    const insert = (n: number, size = 1) =>
      runner.write((tx) => {
        const mark = `sha256:${String(n).padStart(64, '0')}`
        return insertKeptResult(tx, { clock: systemClock }, { jobId, callId: 'c9', tool: 'x', type: 'text/plain', size, mark })
      })
    expect([insert(3), insert(3), insert(4), insert(5, 300 * 1024 * 1024)]).toEqual([3, 3, 4, null])
    for (let n = 5; n <= 200; n++) insert(n)
    expect([insert(200), insert(201)]).toEqual([200, null])
  })

  it('that are too many for the job are not written to disk first', async () => {
    const keptContents = () =>
      readdirSync(join(runner.dataDir, 'files'), { recursive: true }).filter((path) => /[0-9a-f]{64}$/.test(String(path))).length
    const before = keptContents()
    const { outputs } = await run({ name: 'hostile__album' })
    expect(outputs[0]!.match(/, kept for/g)).toHaveLength(200)
    expect(outputs[0]!.match(/, not kept/g)).toHaveLength(50)
    expect(keptContents() - before).toBe(200)
  })
})
