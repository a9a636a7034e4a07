import { afterEach, beforeEach, expect } from 'vitest'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Channel } from '../contract/channels.ts'
import type { JobSummary } from '../contract/jobs.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'
import { startSlackServer, type SlackServer, type SlackUser } from './slack-server/slack-server.ts'
import { createPostTool } from './post-tool.ts'

export const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
export const BEN: SlackUser = { id: 'U0BEN000001', name: 'ben', realName: 'Ben Ash' }

/** The whole runner and an app at a local Slack, both new for each test. To be called once in a `describe`. */
export function useSlackRig() {
  let runner: TestRunner
  let slack: SlackServer
  let agent: Agent
  let posted: string[]
  beforeEach(async () => {
    posted = []
    slack = await startSlackServer()
  })
  afterEach(async () => {
    await runner.stop()
    await slack.close()
  })
  const rig = {
    get runner() {
      return runner
    },
    get slack() {
      return slack
    },
    get agent() {
      return agent
    },
    /** The texts that the tool `post` got. */
    get posted() {
      return posted
    },
    /** Starts a runner with an agent that has the tool `post`, and connects the app to it. */
    async begin(fields: Partial<CreateAgent> = {}, options: TestRunnerOptions = {}): Promise<Channel> {
      runner = await createTestRunner({ moreTools: [createPostTool((text) => posted.push(text))], ...options })
      agent = await runner.addAgent({ name: 'Ada', ...fields })
      const body = { agentId: agent.id, kind: 'slack', token: slack.botToken, appToken: slack.appToken, baseUrl: slack.url } as const
      const { channel } = await runner.client.ok('createChannel', { body })
      await rig.untilOpen()
      return channel
    },
    untilOpen: () => expect.poll(async () => (await rig.channelNow()).status).toBe('open'),
    channelNow: async () => (await runner.client.ok('listChannels', { query: {} })).channels[0]!,
    personOf: async (externalId: string) => (await rig.channelNow()).people.find((one) => one.externalId === externalId),
    async setRole(externalId: string, role: 'owner' | 'allowed' | 'refused'): Promise<void> {
      const { id, channelId } = (await rig.personOf(externalId))!
      await runner.client.ok('updateChannelPerson', { params: { channelId, personId: id }, body: { role } })
    },
    /** They write for the first time and get a role. Resolves when they have been notified. */
    async letIn(user: SlackUser, role: 'owner' | 'allowed' = 'owner'): Promise<void> {
      slack.say(user, 'Hello?')
      await expect.poll(() => rig.personOf(user.id)).toBeDefined()
      await rig.setRole(user.id, role)
      await slack.until(() => rig.said(user).length >= 2)
    },
    /** What the app has sent to them. */
    said: (user: SlackUser): string[] => slack.sent.filter(({ channel }) => channel === slack.directOf(user)).map(({ text }) => text),
    /** A text must match exactly, an expression anywhere. */
    untilSaid: (user: SlackUser, text: string | RegExp) =>
      slack.until(() => rig.said(user).some((one) => (typeof text === 'string' ? one === text : text.test(one)))),
    /** Newest first, like all lists. */
    jobs: async (): Promise<JobSummary[]> => (await runner.client.ok('listJobs', { query: { limit: 50 } })).jobs,
    pending: async () => (await runner.client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals,
    /** The process is killed now, and another one starts on what it left. */
    crash(): Promise<void> {
      slack.cutOff()
      return runner.restart({ crash: true })
    },
  }
  return rig
}
