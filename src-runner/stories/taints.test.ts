import { afterEach, describe, expect, it } from 'vitest'
import type { JobChannel } from '../contract/jobs.ts'
import type { Taints } from '../contract/rules.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import type { ServedToolCall } from '../testing/model-servers/reply.ts'

/** What an answer brings into a job, however the answer comes to be. */
describe('the taints of a job', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const pending = async () => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals

  /** Plays the calls, then one that asks at this level; the question tells the taints. */
  async function taintsAfter(
    calls: ServedToolCall[],
    channel: JobChannel = 'api',
    note?: { decision: 'approve' | 'reject'; words: string },
  ) {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ name: 'Ada', folders: [runner.makeFolder({ 'salary.txt': '1', 'divorce.txt': '2' })] })
    runner.modelServer.play({ toolCalls: calls }, { toolCalls: [{ id: 'last', name: 'web_fetch', args: { url: 'https://x.example/' } }] })
    const jobId = await runner.enqueue({ agentId: agent.id, channel, task: 'Look at this' })
    if (note !== undefined) {
      expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
      const { id: approvalId } = (await pending())[0]!
      const { decision, words } = note
      const body = decision === 'approve' ? { approvalId, decision, answer: words } : { approvalId, decision, note: words }
      await runner.client.ok('resolveApproval', { body })
    }
    await expect.poll(async () => (await pending()).map(({ callId }) => callId)).toEqual(['last'])
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    const said = steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : [])).join('\n')
    return { said, taints: (await pending())[0]!.taints }
  }
  const tainted = ({ untrusted, private: seen }: Taints) => [untrusted !== null, seen !== null]

  it('are set by a refusal that lists what is there in place of a missing folder', async () => {
    const { said, taints } = await taintsAfter([{ id: 'a', name: 'run_command', args: { command: ['true'], folder: 'folder-1/nothing' } }])
    expect(said).toContain('salary.txt')
    expect(tainted(taints)).toEqual([true, true])
  })

  it('are set by a result whose file is not there', async () => {
    const call = { id: 'a', name: 'return_result', args: { summary: 'Done', files: ['folder-1/nothing.txt'] } }
    const { said, taints } = await taintsAfter([call])
    expect(said).toContain('salary.txt')
    expect(tainted(taints)).toEqual([true, true])
  })

  it.each([
    ['says that a folder is missing', { name: 'write_file', args: { path: 'folder-1/nothing/a', content: '' } }, "no folder 'nothing'"],
    ['says that a file is missing', { name: 'delete_file', args: { path: 'folder-1/nothing' } }, "no file 'folder-1/nothing'"],
    ['lists the folders', { name: 'move_file', args: { from: '/nowhere/a', to: 'folder-1/a' } }, 'The folders are: folder-1 (/'],
  ])('are private after a refusal of a change that %s', async (_, call, words) => {
    const { said, taints } = await taintsAfter([{ id: 'a', ...call }], 'webhook')
    expect(said).toContain(words)
    expect(tainted(taints)).toEqual([true, true])
  })

  const question = { id: 'a', name: 'ask_person', args: { question: 'What is the code of the safe?' } }

  it('count a person’s answer as private where somebody else’s text started the job', async () => {
    const { said, taints } = await taintsAfter([question], 'webhook', { decision: 'approve', words: '4711' })
    expect(said).toContain('4711')
    expect(tainted(taints)).toEqual([true, true])
  })

  it('count the words of a refusal as private there, too', async () => {
    const { said, taints } = await taintsAfter([question], 'webhook', { decision: 'reject', words: 'Not 4711!' })
    expect(said).toContain('Not 4711!')
    expect(tainted(taints)).toEqual([true, true])
  })

  it('are kept for the jobs below a turn when its conversation is deleted', async () => {
    runner = await createTestRunner()
    const { id: agentId } = await runner.addAgent()
    const { conversationId } = await runner.client.ok('chat', { body: { agentId, message: 'Hello' } })
    const jobId = await runner.enqueue({ agentId, channel: 'webhook', task: 'Hello', conversation: conversationId })
    await runner.enqueue({ agentId, channel: 'api', task: 'Help', parentJobId: jobId })
    await runner.client.ok('deleteConversation', { params: { conversationId } })
    const { job } = await runner.client.ok('getJob', { params: { jobId } })
    expect(job.context).toMatchObject({ keptTaints: { untrusted: { cause: { code: 'taint_started_by' } } } })
  })

  it('are not set by an answer in a job of the person’s own', async () => {
    const { taints } = await taintsAfter([question], 'api', { decision: 'approve', words: 'Paris' })
    expect(tainted(taints)).toEqual([false, false])
  })
})
