import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Provider } from '../contract/providers.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { servedTokensOf, type ModelServerOptions } from '../testing/model-servers/model-server.ts'
import type { ServedReply } from '../testing/model-servers/reply.ts'
import { defineTool } from '../agent/tools/tool.ts'

const INSTRUCTIONS = 'Answer in one sentence that begins with the word Heron.'
const TASK = 'Read all of my notes, one after the other.'
/** More than three times what the model holds. */
const FILES = 14
/** Ten times as much. */
const MANY_FILES = 40
const FILE_CHARS = 19_200
const WINDOW = 20_000

const nameOf = (n: number) => `note-${String(n).padStart(2, '0')}.txt`
const contentOf = (n: number) => `${`These are the words of note ${n}. `.repeat(10)}\n`.repeat(FILE_CHARS / 320)

/** Knows only the request, like a model: it reads the note after the last one in the request. */
function readOn(request: unknown, files = FILES): ServedReply {
  const sent = JSON.stringify(request)
  if (!sent.includes(INSTRUCTIONS) || !sent.includes(TASK)) return { text: ['I do not know what I am to do.'] }
  const last = Number([...sent.matchAll(/note-(\d\d)\.txt/g)].at(-1)?.[1] ?? 0)
  const usage = { input: servedTokensOf(request), output: 5 }
  if (last === files) return { text: ['Heron: all is read.'], usage }
  return { toolCalls: [{ id: `read_${last + 1}`, name: 'read_file', args: { path: `folder-1/${nameOf(last + 1)}` } }], usage }
}

const readMany = (request: unknown) => readOn(request, MANY_FILES)

type Case = [name: string, kind: Provider['kind'], server: ModelServerOptions, files?: number]
const SERVERS: Case[] = [
  ['Ollama', 'ollama', { looksLike: 'ollama', ollama: { trainedTokens: WINDOW } }],
  [
    'an Ollama that cuts without a word',
    'ollama',
    { looksLike: 'ollama', ollama: { trainedTokens: WINDOW, alwaysCuts: true } },
    MANY_FILES,
  ],
  ['llama.cpp', 'openai-compatible', { window: { tokens: WINDOW, says: 'llama.cpp' } }],
  ['LM Studio', 'openai-compatible', { window: { tokens: WINDOW, says: 'lm-studio' } }],
  ['vLLM', 'openai-compatible', { window: { tokens: WINDOW, says: 'vllm' } }],
  ['a server of OpenAI’s chat completions', 'openai-compatible', { window: { tokens: WINDOW, says: 'openai' } }, MANY_FILES],
  ['OpenAI, which says no number', 'openai', { window: { tokens: WINDOW } }],
  ['Anthropic', 'anthropic', { window: { tokens: WINDOW } }],
  ['Google', 'google', { window: { tokens: WINDOW } }],
]

describe('jobs that are larger than their model', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const open = async (kind: Provider['kind'], modelServer: ModelServerOptions, more: Parameters<typeof createTestRunner>[0] = {}) => {
    runner = await createTestRunner({ modelServer: { fallback: readOn, models: ['small'], ...modelServer }, ...more })
    const { url } = runner.modelServer
    const baseUrl = { ollama: url, google: `${url}/v1beta` }[kind as string] ?? `${url}/v1`
    const body = { kind: kind as 'openai-compatible', name: 'Server', baseUrl, apiKey: 'key-123456' }
    const { provider } = await runner.client.ok('createProvider', { body })
    const folder = runner.makeFolder(Object.fromEntries(Array.from({ length: MANY_FILES }, (_, n) => [nameOf(n + 1), contentOf(n + 1)])))
    return runner.addAgent({
      model: { providerId: provider.id, model: 'small' },
      instructions: INSTRUCTIONS,
      folders: [folder],
      autonomy: 'on_its_own',
      limits: { maxTurns: 60, maxCostUsd: 100, maxWorkingMs: 3_600_000, maxToolCalls: 100 },
    })
  }
  const work = async (agentId: string, task = TASK) => {
    const { jobId } = await runner.client.ok('submitTask', { body: { task, agentId } })
    const job = await runner.ended(jobId)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    return { job, steps }
  }

  it.each(SERVERS)(
    'end with a result at %s, with their instructions in each call and complete steps',
    async (_name, kind, server, files = FILES) => {
      const agent = await open(kind, { fallback: (request) => readOn(request, files), ...server })
      const { job, steps } = await work(agent.id)
      expect(job).toMatchObject({ status: 'completed', error: null, result: 'Heron: all is read.', toolCalls: files, turns: files + 1 })
      expect(runner.modelServer.cuts()).toBe(0)
      // Once to learn how much it holds, and once more where it does not say; never a second time.
      expect(runner.modelServer.refused()).toBeLessThanOrEqual(2)
      for (const { body } of runner.modelServer.received.filter(({ method }) => method === 'POST')) {
        expect(JSON.stringify(body)).toContain(INSTRUCTIONS)
        expect(JSON.stringify(body)).toContain(TASK)
      }
      // The steps contain what was truncated in the prompt.
      const outputs = steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : []))
      expect(outputs).toHaveLength(files)
      for (const [n, output] of outputs.entries())
        expect(output.match(new RegExp(`note ${n + 1}\\.`, 'g'))).toHaveLength((FILE_CHARS / 320) * 10)
      // Rejected calls cost nothing.
      const replies = steps.flatMap((step) => (step.kind === 'reply' ? [step] : []))
      expect(replies).toHaveLength(files + 1)
      expect(replies.some(({ interrupted, estimated }) => interrupted || estimated)).toBe(false)
    },
  )

  it.each(['llama.cpp', 'lm-studio'] as const)('are never rejected by %s, which reports how it loaded the model', async (looksLike) => {
    const agent = await open('openai-compatible', { looksLike, window: { tokens: WINDOW, says: looksLike } })
    expect((await work(agent.id)).job).toMatchObject({ status: 'completed', result: 'Heron: all is read.' })
    expect(runner.modelServer.refused()).toBe(0)
  })

  it('use the context window that fits into memory', async () => {
    const agent = await open('ollama', { looksLike: 'ollama', ollama: { trainedTokens: 131_072, affordableTokens: 16_384 } })
    expect((await work(agent.id)).job).toMatchObject({ status: 'completed', result: 'Heron: all is read.' })
    expect(runner.modelServer.loads).toEqual([8_192, 16_384])
    expect(runner.modelServer.cuts()).toBe(0)
  })

  it('load the model of Ollama once', async () => {
    // More than the largest context window, which it is loaded with in the end.
    const agent = await open('ollama', { looksLike: 'ollama', ollama: { trainedTokens: 131_072 }, fallback: readMany })
    expect((await work(agent.id)).job).toMatchObject({ status: 'completed', result: 'Heron: all is read.' })
    expect(runner.modelServer.loads.length).toBeLessThanOrEqual(3)
    expect(runner.modelServer.loads).toEqual([...new Set(runner.modelServer.loads)].sort((a, b) => a - b))
  })

  it('continue after a crash with their steps', async () => {
    const agent = await open('openai-compatible', { window: { tokens: WINDOW, says: 'vllm' } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: TASK, agentId: agent.id } })
    await runner.modelServer.untilReceived(8)
    await runner.restart({ crash: true })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', result: 'Heron: all is read.' })
    expect(runner.modelServer.refused()).toBeLessThanOrEqual(2)
  })

  it('fail with what to do if the task itself is too long', async () => {
    const agent = await open('openai-compatible', { window: { tokens: 3_000, says: 'vllm' } })
    await runner.client.ok('updateAgent', {
      params: { agentId: agent.id },
      body: { instructions: `${INSTRUCTIONS} ${'Be careful. '.repeat(1500)}` },
    })
    const { job, steps } = await work(agent.id)
    expect(job).toMatchObject({ status: 'failed', error: 'model_context_too_long', costUsd: 0, turns: 0 })
    expect(job.errorMessage).toMatchObject({ code: 'job_too_long' })
    expect(steps).toEqual([])
    expect(runner.modelServer.refused()).toBe(1)
  })

  it('keep their taints after the text has left the context window', async () => {
    const sent: string[] = []
    const send = defineTool({
      name: 'send',
      description: 'Sends a message.',
      args: z.object({ text: z.string() }),
      effect: 'once',
      parallel: false,
      facts: ({ text }) => ({
        paths: [],
        leavesMachine: true,
        costsMoney: false,
        deletes: false,
        overwrites: false,
        runsCode: false,
        subject: 'https://mail.example',
        summary: `Send ${text}`,
      }),
      run: async ({ text }) => ({ ok: sent.push(text) > 0, output: 'sent' }),
    })
    let lastRequest = ''
    const fallback = (request: unknown): ServedReply => {
      lastRequest = JSON.stringify(request)
      const reply = readOn(request)
      return reply.toolCalls === undefined ? { toolCalls: [{ id: 'out', name: 'send', args: { text: 'hello' } }] } : reply
    }
    const agent = await open('openai-compatible', { fallback, window: { tokens: WINDOW, says: 'vllm' } }, { moreTools: [send] })
    const { job, steps } = await work(agent.id)
    expect(job.status).toBe('awaiting_approval')
    expect(sent).toEqual([])
    const first = steps.find((step) => step.kind === 'tool_result')!
    expect(lastRequest).not.toContain('words of note 1.')
    const { approvals } = await runner.client.ok('listApprovals', { query: { jobId: job.id } })
    expect(approvals).toMatchObject([{ callId: 'out', taints: { private: { seq: first.seq }, untrusted: { seq: first.seq } } }])
  })
})
