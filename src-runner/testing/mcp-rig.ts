import type { z } from 'zod'
import { expect } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { CreateMcpServer, McpServer, McpToolEffect } from '../contract/mcp.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'

/** A call that the model makes. */
export type PlayedCall = { name: string; args?: object }

export type AddedServer = {
  server: McpServer
  test(): Promise<{ ok: boolean; server: McpServer; message: { code: string; params: Record<string, unknown> } | null }>
  /** Accepts these tools as the server lists them now. */
  accept(effects: Record<string, McpToolEffect>): Promise<void>
}

export type McpRig = {
  runner: TestRunner
  /** It works on its own, and may use every server that is added without other agents. */
  agent: Agent
  add(body: z.input<typeof CreateMcpServer>): Promise<AddedServer>
  /** Starts a job whose model makes the calls one after the other. `ends`: and then says that it is done. */
  start(calls: PlayedCall | readonly PlayedCall[], options?: { agentId?: string; ends?: boolean }): Promise<string>
  /** What the model got for its calls, once the job is completed. */
  outputsOf(jobId: string): Promise<string[]>
  /** What a job got for this one call. */
  run(name: string, args?: object, agentId?: string): Promise<string>
  pending(jobId: string): Promise<Approval[]>
  /** The approval that the job waits for. */
  approvalOf(jobId: string): Promise<Approval>
  answer(approvalId: string, answer?: { answer?: string } | 'reject'): Promise<unknown>
}

/** A runner with an agent whose model calls tools of MCP servers. */
export async function startMcpRig(options?: TestRunnerOptions): Promise<McpRig> {
  const runner = await createTestRunner(options)
  const agent = await runner.addAgent({ autonomy: 'on_its_own' })

  const rig: McpRig = {
    runner,
    agent,
    async add(body) {
      const { server } = await runner.client.ok('createMcpServer', { body: { agents: [{ agentId: agent.id }], ...body } })
      const params = { mcpServerId: server.id }
      const test = () => runner.client.ok('testMcpServer', { params })
      return {
        server,
        test,
        async accept(effects) {
          const { ok, message, server: found } = await test()
          if (!ok) throw new Error(`the server does not work: ${JSON.stringify(message)}`)
          const tools = Object.entries(effects).map(([name, effect]) => {
            return { name, effect, digest: found.tools.find((tool) => tool.name === name)!.digest }
          })
          await runner.client.ok('acceptMcpTools', { params, body: { tools } })
        },
      }
    },
    async start(calls, { agentId = agent.id, ends = true } = {}) {
      const list = Array.isArray(calls) ? (calls as readonly PlayedCall[]) : [calls as PlayedCall]
      runner.modelServer.play(
        ...list.map(({ name, args = {} }, i) => ({ toolCalls: [{ id: `c${i}`, name, args }] })),
        ...(ends ? [{ text: ['Done.'] }] : []),
      )
      return (await runner.client.ok('submitTask', { body: { task: 'Do it', agentId } })).jobId
    },
    async outputsOf(jobId) {
      expect((await runner.ended(jobId)).status).toBe('completed')
      const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
      return steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : []))
    },
    async run(name, args, agentId) {
      const [output] = await rig.outputsOf(await rig.start({ name, args }, { agentId }))
      return output!
    },
    pending: async (jobId) => (await runner.client.ok('listApprovals', { query: { status: 'pending', jobId } })).approvals,
    async approvalOf(jobId) {
      expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
      const [approval, ...others] = await rig.pending(jobId)
      expect(others).toEqual([])
      return approval!
    },
    answer: (approvalId, answer = {}) =>
      runner.client.ok('resolveApproval', {
        body: answer === 'reject' ? { approvalId, decision: 'reject' } : { approvalId, decision: 'approve', ...answer },
      }),
  }
  return rig
}
