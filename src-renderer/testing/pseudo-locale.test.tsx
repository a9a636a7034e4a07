import { waitFor } from '@solidjs/testing-library'
import type { Component } from 'solid-js'
import { beforeEach, expect, it } from 'vitest'
import appSource from '../app.tsx?raw' // oxlint-disable-line import/default -- the text of the file, by Vite
import { PSEUDO_STORED_AS } from '../lib/language.ts'
import { ActivityScreen } from '../routes/activity/ActivityScreen.tsx'
import { AgentScreen } from '../routes/agents/AgentScreen.tsx'
import { AgentsScreen } from '../routes/agents/AgentsScreen.tsx'
import { ApprovalsScreen } from '../routes/approvals/ApprovalsScreen.tsx'
import { AutomationsScreen } from '../routes/automations/AutomationsScreen.tsx'
import { ScheduleEditScreen } from '../routes/automations/schedules/ScheduleEditScreen.tsx'
import { ScheduleScreen } from '../routes/automations/schedules/ScheduleScreen.tsx'
import { NewTriggerScreen } from '../routes/automations/webhooks/NewTriggerScreen.tsx'
import { TriggerScreen } from '../routes/automations/webhooks/TriggerScreen.tsx'
import { ChannelsScreen } from '../routes/channels/ChannelsScreen.tsx'
import { ChatScreen } from '../routes/chat/ChatScreen.tsx'
import { CodeScreen } from '../routes/code/CodeScreen.tsx'
import { ConnectionsScreen } from '../routes/connections/ConnectionsScreen.tsx'
import { CredentialScreen } from '../routes/connections/CredentialScreen.tsx'
import { McpServerScreen } from '../routes/connections/mcp/McpServerScreen.tsx'
import { HomeScreen } from '../routes/home/HomeScreen.tsx'
import { JobScreen } from '../routes/job/JobScreen.tsx'
import { ModelsScreen } from '../routes/models/ModelsScreen.tsx'
import { RulesScreen } from '../routes/rules/RulesScreen.tsx'
import { SETTINGS_SECTIONS } from '../routes/settings/sections.ts'
import { SettingsScreen } from '../routes/settings/SettingsScreen.tsx'
import { SignInScreen } from '../routes/sign-in/SignInScreen.tsx'
import { EditSkillScreen } from '../routes/skills/EditSkillScreen.tsx'
import { SkillScreen } from '../routes/skills/SkillScreen.tsx'
import { SkillsScreen } from '../routes/skills/SkillsScreen.tsx'
import { UsageScreen } from '../routes/usage/UsageScreen.tsx'
import { WelcomeScreen } from '../routes/welcome/WelcomeScreen.tsx'
import { NotFound } from '../shell/NotFound.tsx'
import { type Answers, createFakeRunner } from './fake-runner.ts'
import { renderScreen } from './render.tsx'
import {
  makeAgent,
  makeApproval,
  makeChannel,
  makeCodeTask,
  makeConnector,
  makeCredential,
  makeDelivery,
  makeJob,
  makeMcpServer,
  makeMcpTool,
  makeModel,
  makeOccurrence,
  makePerson,
  makeProvider,
  makeRule,
  makeSchedule,
  makeSkill,
  makeSkillContents,
  makeSummary,
  makeTrigger,
} from './things.ts'

const agent = makeAgent()
const job = makeJob()
const trigger = makeTrigger()
const schedule = makeSchedule()
const approval = makeApproval()
const channel = makeChannel({ people: [makePerson(), makePerson({ role: 'owner' })] })
const credential = makeCredential({ status: 'needs_sign_in' })
const server = makeMcpServer({ tools: [makeMcpTool(), makeMcpTool({ name: 'send_note', status: 'new', effect: null })] })
const contents = makeSkillContents({ findings: [{ kind: 'hidden_text', path: 'SKILL.md', line: 2, excerpt: 'x' }] })
const skill = makeSkill({ contents, status: 'needs_consent', newPermissions: ['scripts'], hasUpdate: true })
const codeTask = makeCodeTask({ jobId: job.id })
const { files: _files, commands: _commands, ...summary } = codeTask
const data: Answers = {
  listAgents: () => ({ agents: [agent], nextCursor: null }),
  getAgent: () => ({ agent }),
  getJob: () => ({ job }),
  listJobs: () => ({ jobs: [makeSummary(), makeSummary({ status: 'failed' })], nextCursor: null }),
  listSteps: () => ({ steps: [] }),
  listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
  getApproval: () => ({ approval }),
  listRules: () => ({ rules: [makeRule()], nextCursor: null }),
  listProviders: () => ({ providers: [makeProvider()], nextCursor: null }),
  listModels: () => ({ models: [makeModel()], problems: [], defaultModel: null, nextCursor: null }),
  listTriggers: () => ({ triggers: [trigger], nextCursor: null }),
  getTrigger: () => ({ trigger }),
  listDeliveries: () => ({ deliveries: [makeDelivery(), makeDelivery({ outcome: 'bad_signature' })], nextCursor: null }),
  listSchedules: () => ({ schedules: [schedule], nextCursor: null }),
  getSchedule: () => ({ schedule }),
  listOccurrences: () => ({ occurrences: [makeOccurrence(), makeOccurrence({ state: 'caught_up' })], nextCursor: null }),
  previewTemplate: () => ({ prompt: 'x', plainPrompt: 'x', placeholders: [], problem: null }),
  listChannels: () => ({ channels: [channel], nextCursor: null }),
  listConnectors: () => ({ connectors: [makeConnector()], nextCursor: null }),
  listCredentials: () => ({ credentials: [credential], nextCursor: null }),
  getCredential: () => ({ credential }),
  listMcpServers: () => ({ servers: [server], nextCursor: null }),
  getMcpServer: () => ({ server }),
  listSkills: () => ({ skills: [skill], nextCursor: null }),
  getSkill: () => ({ skill, text: 'x' }),
  readSkillFiles: () => ({ files: [], digest: skill.digest, isChanged: false }),
  checkSkill: () => ({ contents, problem: null }),
  previewSkillUpdate: () => ({
    ok: true,
    changed: false,
    files: [],
    permissionsAdded: [],
    newFindings: { findings: [], findingsCut: false },
    findingCount: 0,
    currentDigest: skill.digest,
    upstreamDigest: skill.digest,
  }),
  listCodeRepositories: () => ({ repositories: [{ folder: '/home/ada/shop', branch: 'main', dirty: true }] }),
}

const withCode: Answers = {
  getJob: () => ({ job: { ...job, isCodeTask: true } }),
  getCodeTask: () => ({ codeTask }),
  listCodeTasks: () => ({ codeTasks: [summary, { ...summary, jobId: makeCodeTask().jobId, jobStatus: 'running' }], nextCursor: null }),
}
const withSpend: Answers = {
  getSpend: ({ query: { by } }) => {
    const key = { day: new Date().toISOString().slice(0, 10), agent: agent.id, model: 'nova/gpt-nova', channel: 'webhook' }[by]
    const sums = { costUsd: 1.25, inputTokens: 1_200, outputTokens: 300, cachedTokens: 0, jobs: 3, unpricedCalls: 1 }
    return { rows: [{ key, label: by === 'model' ? 'gpt-nova' : key, ...sums }], totalUsd: 1.25, unpricedCalls: 1 }
  },
}
const withOwnSkill: Answers = {
  getSkill: () => ({ skill: { ...skill, kind: 'own', source: '' }, text: 'x' }),
}

const SCREENS: [route: string, path: string, screen: Component, answers?: Answers, shows?: string][] = [
  ['/', '/', HomeScreen],
  ['/chat/:conversationId?', '/chat', ChatScreen],
  ['/approvals/:approvalId?', '/approvals', ApprovalsScreen],
  ['/rules', '/rules', RulesScreen],
  ['/activity', '/activity', ActivityScreen],
  ['/jobs/:jobId', `/jobs/${job.id}`, JobScreen],
  ['/jobs/:jobId', `/jobs/${job.id}#code`, JobScreen, withCode, codeTask.files[0]!.path],
  ['/code', '/code', CodeScreen],
  ['/code', '/code?tasks', CodeScreen, withCode, codeTask.title],
  ['/code', '/code?new=1', CodeScreen],
  ['/automations/:tab?', '/automations/webhooks', AutomationsScreen],
  ['/automations/:tab?', '/automations/schedules', AutomationsScreen],
  ['/automations/webhooks/new', '/automations/webhooks/new', NewTriggerScreen],
  ['/automations/webhooks/:triggerId', `/automations/webhooks/${trigger.id}`, TriggerScreen],
  ['/automations/schedules/new', '/automations/schedules/new', ScheduleEditScreen],
  ['/automations/schedules/:scheduleId', `/automations/schedules/${schedule.id}`, ScheduleScreen],
  ['/automations/schedules/:scheduleId/edit', `/automations/schedules/${schedule.id}/edit`, ScheduleEditScreen],
  ['/agents', '/agents', AgentsScreen],
  ['/agents/:agentId', `/agents/${agent.id}`, AgentScreen],
  ['/channels', '/channels', ChannelsScreen],
  ['/connections', '/connections', ConnectionsScreen],
  ['/connections', '/connections?connect=github', ConnectionsScreen],
  ['/connections', '/connections?add=mcp', ConnectionsScreen],
  ['/connections/:credentialId', `/connections/${credential.id}`, CredentialScreen],
  ['/connections/mcp/:mcpServerId', `/connections/mcp/${server.id}`, McpServerScreen],
  ['/skills', '/skills', SkillsScreen],
  ['/skills', '/skills?install=1', SkillsScreen],
  ['/skills/new', '/skills/new', EditSkillScreen],
  ['/skills/:skillId', `/skills/${skill.id}`, SkillScreen],
  ['/skills/:skillId', `/skills/${skill.id}?update=1`, SkillScreen],
  ['/skills/:skillId/edit', `/skills/${skill.id}/edit`, EditSkillScreen, withOwnSkill],
  ['/models', '/models', ModelsScreen],
  ['/usage', '/usage', UsageScreen],
  ['/usage', '/usage?days=7&by=channel', UsageScreen, withSpend, 'gpt-nova'],
  ...SETTINGS_SECTIONS.map((section): [string, string, Component] => ['/settings/:section?', `/settings/${section}`, SettingsScreen]),
  ...['model', 'agent', 'job'].map((step): [string, string, Component] => ['/welcome', `/welcome?step=${step}`, WelcomeScreen]),
  ['*', '/nowhere', NotFound],
  ['sign in', '/', () => <SignInScreen hasOwner problem={null} />],
  ['sign in', '/', () => <SignInScreen hasOwner={false} problem={null} />],
]

/** Names and words that are the same in every language, and what Intl writes. */
const UNTRANSLATED =
  /\b(Deckhand|Deutsch|English|German|Telegram|Discord|Slack|GitHub|Stripe|Claude Code|Codex|Gemini CLI|OpenCode|now|ago|in|min|sec|hr|day|days|mo|yr|wk|hours?|AM|PM|UTC|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|at|MB|event|message|openapi\.json|Ctrl|Shift|Enter|Esc|JSON|API|K|M)\b/g

beforeEach(() => localStorage.setItem(PSEUDO_STORED_AS, '1'))

it('covers every route of the app', () => {
  const routes = [...appSource.matchAll(/<Route path="([^"]+)"/g)].map(([, route]) => route!)
  expect(routes.length).toBeGreaterThan(20)
  expect(routes.filter((route) => !SCREENS.some(([covered]) => covered === route))).toEqual([])
})

it.each(SCREENS)('%s (%s) shows no text that is not in the catalogue', async (route, path, screen, answers = {}, shows = '') => {
  const runner = createFakeRunner({ ...data, ...answers })
  const view = renderScreen(screen, { route: route === 'sign in' ? '/' : route, path, runner })
  await waitFor(() => expect(view.container.textContent).toMatch(/\[.*\]/s))
  await waitFor(() => expect(view.container.textContent).toContain(shows))
  await waitFor(() => expect(view.container.querySelector('.animate-pulse')).toBeNull())
  expect(strangersIn(document.body)).toEqual([])
})

/** The texts without the brackets of the pseudo-locale, apart from the runner's data. */
function strangersIn(root: HTMLElement): string[] {
  const texts: string[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node.textContent ?? '')
  for (const element of root.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.push(element.getAttribute(name) ?? '')
  }
  return [...new Set(texts)].filter((text) => /[A-Za-z]{2,}/.test(withoutData(text)))
}

const KNOWN = [data, withCode, withOwnSkill]
  .flatMap((answers) => stringsOf(Object.values(answers).map((answer) => (answer as () => unknown)())))
  .sort((a, b) => b.length - a.length)

function withoutData(text: string): string {
  const open = text.indexOf('[')
  const close = text.lastIndexOf(']')
  let rest = open === -1 || close < open ? text : text.slice(0, open) + text.slice(close + 1)
  rest = rest.replaceAll(UNTRANSLATED, '')
  for (const known of KNOWN) rest = rest.replaceAll(known, '')
  return rest
}

/** Of paths, the last part too, because lists show only that. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, value.slice(value.lastIndexOf('/') + 1)].filter((text) => text.length > 1)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : []
}
