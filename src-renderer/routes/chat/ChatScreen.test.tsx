import { quote } from '../../testing/things.ts'
import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library'
import { A } from '@solidjs/router'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Conversation, Message } from '../../../src-runner/contract/conversations.ts'
import type { ChatStreamEvent, JobSummary, ReplyStep, Step } from '../../../src-runner/contract/jobs.ts'
import { createFakeRunner, createHeldStream, type FakeRunner, type HeldStream, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeApproval, makeId, makeSummary } from '../../testing/things.ts'
import { ChatScreen } from './ChatScreen.tsx'

const ROUTE = '/chat/:conversationId?'

/** The runner's 200, for tests that want a conversation of many pages. */
let messagesAPage = 200

function pageOf(held: { conversation: Conversation; messages: Message[]; jobs: JobSummary[] }, before = String(held.messages.length)) {
  const start = Math.max(0, Number(before) - messagesAPage)
  const messages = held.messages.slice(start, Number(before))
  const jobs = held.jobs.filter(({ id }) => messages.some(({ jobId }) => jobId === id))
  return { conversation: held.conversation, messages, jobs, nextCursor: start === 0 ? null : String(start) }
}

/** A workspace with one agent, whose conversations change as the test says. */
function createWorkspace() {
  const agent: Agent = makeAgent({ name: 'Ada' })
  const conversations = new Map<string, { conversation: Conversation; messages: Message[]; jobs: JobSummary[] }>()
  const steps = new Map<string, Step[]>()
  const runner: FakeRunner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listConversations: () => ({ conversations: [...conversations.values()].map((held) => held.conversation), nextCursor: null }),
    getConversation: ({ params, query }) => {
      const held = conversations.get(params.conversationId)
      return held === undefined ? new Refusal('conversation_not_found') : pageOf(held, query.before)
    },
    listSteps: ({ params, query }) => ({ steps: (steps.get(params.jobId) ?? []).filter((step) => step.seq > query.after) }),
  })
  const begin = (title: string) => {
    const id = makeId()
    conversations.set(id, {
      conversation: {
        id,
        entityId: agent.entityId,
        agentId: agent.id,
        agentName: agent.name,
        title,
        lastJobStatus: null,
        createdAt: 1,
        updatedAt: 1,
      },
      messages: [],
      jobs: [],
    })
    return id
  }
  const addTurn = (conversationId: string, text: string, fields: Partial<JobSummary>) => {
    const job = makeSummary({ agentId: agent.id, agentName: agent.name, conversationId, channel: 'chat', toolCalls: 0, ...fields })
    const held = conversations.get(conversationId)!
    held.jobs.push(job)
    held.messages.push({ id: makeId(), conversationId, jobId: job.id, role: 'user', text, createdAt: job.createdAt })
    return job
  }
  const addAnswer = (conversationId: string, jobId: string, text: string) =>
    conversations.get(conversationId)!.messages.push({ id: makeId(), conversationId, jobId, role: 'assistant', text, createdAt: 2 })
  const change = (conversationId: string, jobId: string, fields: Partial<JobSummary>) => {
    const held = conversations.get(conversationId)!
    held.jobs = held.jobs.map((job) => (job.id === jobId ? { ...job, ...fields } : job))
  }
  const tell = (conversationId: string) => runner.happen({ type: 'conversation.changed', payload: { conversationId, agentId: agent.id } })
  return { agent, runner, steps, begin, addTurn, addAnswer, change, tell, conversations }
}

function openChat(runner: FakeRunner, path = '/chat') {
  return renderScreen(ChatScreen, { route: ROUTE, path, runner })
}

const composer = () => screen.findByRole('textbox', { name: 'Message' })
const reply = (seq: number, text: string, fields: Partial<ReplyStep> = {}): ReplyStep => ({
  kind: 'reply',
  seq,
  attempt: 1,
  createdAt: 1,
  durationMs: 1,
  text,
  toolCalls: [],
  model: { providerId: 'p', model: 'sonnet' },
  inputTokens: 10,
  outputTokens: 2,
  cachedTokens: 0,
  costUsd: 0.01,
  priced: true,
  estimated: false,
  interrupted: false,
  ...fields,
})

const RUNNING = { status: 'running', finishedAt: null, model: null, inputTokens: 0, outputTokens: 0, turns: 0 } as const
const ENDED = {
  status: 'completed',
  finishedAt: 1_700_000_004_300,
  model: { providerId: 'p', model: 'sonnet' },
  inputTokens: 1200,
  outputTokens: 340,
  turns: 1,
} as const

beforeEach(() => {
  sessionStorage.clear()
  messagesAPage = 200
})

it('sends a message only once it is known whose conversation it is', async () => {
  const space = createWorkspace()
  const other = makeAgent({ name: 'Grace', isDefault: false })
  const conversationId = space.begin('Ships')
  const held = space.conversations.get(conversationId)!
  Object.assign(held.conversation, { agentId: other.id, agentName: 'Grace' })
  let arrive!: () => void
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  space.runner.answer({
    listAgents: () => ({ agents: [space.agent, other], nextCursor: null }),
    getConversation: () => arrived.then(() => ({ ...held, nextCursor: null })),
  })
  const view = openChat(space.runner, `/chat/${conversationId}`)
  await screen.findByRole('option', { name: /Ships/ })
  await view.user.type(await composer(), 'Hello{Enter}')
  expect(space.runner.callsOf('chatStream')).toHaveLength(0)
  expect(await composer()).toHaveValue('Hello')
  arrive()
  await screen.findByRole('heading', { name: 'Ships' })
  await view.user.type(await composer(), '{Enter}')
  await waitFor(() => expect(space.runner.callsOf('chatStream')[0]!.body).toMatchObject({ agentId: other.id, conversationId }))
})

describe('a new chat', () => {
  it('shows the message at once, gets the URL of the conversation, streams on one connection, and ends with the cost', async () => {
    const space = createWorkspace()
    const start = createHeldStream()
    space.runner.streamFrames('chatStream', [start])
    const view = openChat(space.runner)
    await view.user.type(await composer(), 'What is new?{Enter}')
    expect(screen.getByText('What is new?')).toBeInTheDocument()
    expect(await composer()).toHaveValue('')

    const conversationId = space.begin('What is new?')
    const job = space.addTurn(conversationId, 'What is new?', RUNNING)
    start.send({ type: 'start', jobId: job.id, conversationId })
    await waitFor(() => expect(view.path()).toBe(`/chat/${conversationId}`))
    expect(space.runner.callsOf('chatStream')[0]!.body).toEqual({
      agentId: space.agent.id,
      message: 'What is new?',
      clientId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(within(screen.getByRole('group', { name: 'Chat' })).getByText('What is new?')).toBeInTheDocument()

    start.send({ type: 'delta', seq: 1, text: 'Two **new** ' })
    expect(await screen.findByText('new', { selector: 'strong' })).toBeInTheDocument()
    start.send({ type: 'delta', seq: 1, text: 'files.' })
    expect(await screen.findByText(/files\./)).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Stop' })).toBeEnabled()

    start.send({ type: 'step', step: reply(1, 'Two **new** files.') })
    space.change(conversationId, job.id, ENDED)
    space.addAnswer(conversationId, job.id, 'Two **new** files.')
    start.send({ type: 'done', reply: 'Two **new** files.', jobId: job.id, conversationId, status: 'completed', costUsd: 0.0123 })
    space.tell(conversationId)
    expect(await screen.findByText('$0.01')).toBeInTheDocument()
    expect(screen.getByText('sonnet')).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'Stop' })).not.toBeInTheDocument()
    expect(screen.getAllByText('new', { selector: 'strong' })).toHaveLength(1)
    expect([space.runner.callsOf('chatStream').length, space.runner.callsOf('streamJob').length]).toEqual([1, 0])
    expect(space.runner.callsOf('listSteps')).toEqual([])
    // The message stands once in the conversation (and once more as its title, in the list and above).
    expect(within(screen.getByRole('group', { name: 'Chat' })).getAllByText('What is new?')).toHaveLength(1)
  })

  it('keeps a refused message, and says why and where to fix it', async () => {
    const space = createWorkspace()
    const refuse: FakeRunner['fetch'] = (target, init) =>
      target === '/api/chat/stream'
        ? Promise.resolve(new Response(JSON.stringify({ error: 'agent_has_no_model' }), { status: 409 }))
        : space.runner.fetch(target, init)
    const view = openChat({ ...space.runner, fetch: refuse })
    await view.user.type(await composer(), 'Hello{Enter}')
    const alert = await screen.findByRole('alert')
    expect(alert).toHaveTextContent('This agent has no model')
    expect(within(alert).getByRole('link', { name: 'Models & keys' })).toHaveAttribute('href', '/models')
    expect(screen.getByText('Hello')).toBeInTheDocument()
    await view.user.click(within(alert).getByRole('button', { name: 'Edit' }))
    expect(await composer()).toHaveValue('Hello')
    expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  })

  it('keeps what was typed on while the conversation was being created', async () => {
    const space = createWorkspace()
    const start = createHeldStream()
    space.runner.streamFrames('chatStream', [start])
    const view = openChat(space.runner)
    await view.user.type(await composer(), 'Hello{Enter}And more')
    const conversationId = space.begin('Hello')
    start.send({ type: 'start', jobId: space.addTurn(conversationId, 'Hello', RUNNING).id, conversationId })
    await waitFor(() => expect(view.path()).toBe(`/chat/${conversationId}`))
    await view.user.type(await composer(), '!')
    expect(await composer()).toHaveValue('And more!')
    expect(sessionStorage.getItem('deckhand.draft.new')).toBeNull()
  })

  it.each(['Edit', 'New chat'])('puts a message that was not sent above a half-written one with "%s"', async (name) => {
    const space = createWorkspace()
    const view = openChat(space.runner)
    await composer()
    space.runner.setReachable(false)
    await view.user.type(await composer(), 'Hello{Enter}')
    await screen.findByText(/could not be reached/)
    await view.user.type(await composer(), 'And more')
    await view.user.click(screen.getAllByRole('button', { name })[0]!)
    expect(await composer()).toHaveValue('Hello\n\nAnd more')
    expect(await composer()).toHaveFocus()
  })

  it('puts a suggestion below a half-written message, in place of an earlier one that was left as it is', async () => {
    const view = openChat(createWorkspace().runner)
    await composer()
    const [first, second] = within(await screen.findByRole('list', { name: 'Suggestions' })).getAllByRole('button')
    await view.user.click(first!)
    await view.user.click(second!)
    expect(await composer()).toHaveValue(second!.textContent)
    await view.user.clear(await composer())
    await view.user.type(await composer(), 'Please')
    await view.user.click(first!)
    expect(await composer()).toHaveValue(`Please\n\n${first!.textContent}`)
  })

  it('sends again when the runner was away', async () => {
    const space = createWorkspace()
    const view = openChat(space.runner)
    await composer()
    space.runner.setReachable(false)
    await view.user.type(await composer(), 'Hello{Enter}')
    expect(await screen.findByText(/could not be reached/)).toBeInTheDocument()
    space.runner.setReachable(true)
    const start = createHeldStream()
    space.runner.streamFrames('chatStream', [start])
    await view.user.click(screen.getByRole('button', { name: 'Resend' }))
    const conversationId = space.begin('Hello')
    start.send({ type: 'start', jobId: space.addTurn(conversationId, 'Hello', RUNNING).id, conversationId })
    await waitFor(() => expect(view.path()).toBe(`/chat/${conversationId}`))
    expect(screen.queryByText('Not sent')).not.toBeInTheDocument()
  })

  it('sends a message again as the same turn when it is unknown whether it was accepted', async () => {
    const space = createWorkspace()
    const [cut, start] = [createHeldStream(), createHeldStream()]
    space.runner.streamFrames('chatStream', [cut, start])
    const view = openChat(space.runner)
    await view.user.type(await composer(), 'Hello{Enter}')
    await waitFor(() => expect(space.runner.callsOf('chatStream')).toHaveLength(1))
    cut.break()
    await view.user.click(await screen.findByRole('button', { name: 'Resend' }))
    await waitFor(() => expect(space.runner.callsOf('chatStream')).toHaveLength(2))
    const [first, second] = space.runner.callsOf('chatStream')
    expect(first!.body.clientId).toMatch(/./)
    expect(second!.body).toEqual(first!.body)
  })

  it('does not show an old message as running once it has left the newest messages', async () => {
    const space = createWorkspace()
    const start = createHeldStream()
    space.runner.streamFrames('chatStream', [start])
    const view = openChat(space.runner)
    await view.user.type(await composer(), 'Hello{Enter}')
    const conversationId = space.begin('Talk')
    const job = space.addTurn(conversationId, 'Hello', ENDED)
    start.send({ type: 'start', jobId: job.id, conversationId })
    await screen.findByRole('heading', { name: 'Talk' })
    space.conversations.get(conversationId)!.messages = []
    space.addTurn(conversationId, 'Much later', ENDED)
    space.tell(conversationId)
    await screen.findByText('Much later')
    expect(screen.queryByText('Hello')).toBeNull()
  })

  it('puts a message that was not sent back into the field when the person comes back', async () => {
    const space = createWorkspace()
    const Page = () => (
      <>
        <A href="/models">Away</A>
        <ChatScreen />
      </>
    )
    const Elsewhere = () => <A href="/chat">Back</A>
    const view = renderScreen(Page, { route: ROUTE, path: '/chat', runner: space.runner, more: { '/models': Elsewhere } })
    await composer()
    space.runner.setReachable(false)
    await view.user.type(await composer(), 'Hello{Enter}')
    await screen.findByText(/could not be reached/)
    await view.user.type(await composer(), 'And more')
    space.runner.setReachable(true)
    await view.user.click(screen.getByRole('link', { name: 'Away' }))
    await view.user.click(await screen.findByRole('link', { name: 'Back' }))
    expect(await composer()).toHaveValue('Hello\n\nAnd more')
  })

  it('puts a message that was not sent back into the field after a reload', async () => {
    const space = createWorkspace()
    const first = openChat(space.runner)
    await composer()
    space.runner.setReachable(false)
    await first.user.type(await composer(), 'Hello{Enter}')
    await screen.findByText(/could not be reached/)
    await first.user.type(await composer(), 'And more')
    // A reload disposes of nothing.
    first.container.remove()
    space.runner.setReachable(true)
    openChat(space.runner)
    expect(await composer()).toHaveValue('Hello\n\nAnd more')
    expect(screen.queryByText('Not sent')).toBeNull()
  })

  /** A chat that the person can leave. Its message waits for the runner until the test lets it go or refuses it. */
  async function sendAndLeave() {
    const space = createWorkspace()
    const sending = Promise.withResolvers<void>()
    const start = createHeldStream()
    space.runner.streamFrames('chatStream', [start])
    const fetch: FakeRunner['fetch'] = async (target, init) => {
      if (target === '/api/chat/stream') await sending.promise
      return space.runner.fetch(target, init)
    }
    const Page = () => (
      <>
        <A href="/models">Away</A>
        <ChatScreen />
      </>
    )
    const Elsewhere = () => <A href="/chat">Back</A>
    const view = renderScreen(Page, { route: ROUTE, path: '/chat', runner: { ...space.runner, fetch }, more: { '/models': Elsewhere } })
    await view.user.type(await composer(), 'Hello{Enter}')
    await view.user.click(screen.getByRole('link', { name: 'Away' }))
    return { space, view, sending, start, back: await screen.findByRole('link', { name: 'Back' }) }
  }

  it('puts a message into the field when sending fails after the person came back', async () => {
    const { view, sending, back } = await sendAndLeave()
    await view.user.click(back)
    await view.user.type(await composer(), 'And more')
    sending.reject(new TypeError('Failed to fetch'))
    await waitFor(async () => expect(await composer()).toHaveValue('Hello\n\nAnd more'))
    await view.user.type(await composer(), '!')
    expect(await composer()).toHaveValue('Hello\n\nAnd more!')
  })

  it('does not pull the person back who left while it was being opened', async () => {
    const { space, view, sending, start } = await sendAndLeave()
    sending.resolve()
    const conversationId = space.begin('Hello')
    start.send({ type: 'start', jobId: space.addTurn(conversationId, 'Hello', RUNNING).id, conversationId })
    start.send({ type: 'delta', seq: 1, text: 'Hi' })
    await waitFor(() => expect(space.runner.callsOf('chatStream')).toHaveLength(1))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(view.path()).toBe('/models')
  })

  it('starts a new line with Shift+Enter, and keeps a draft while another conversation is open', async () => {
    const space = createWorkspace()
    const other = space.begin('Other')
    const view = openChat(space.runner)
    await view.user.type(await composer(), 'one{Shift>}{Enter}{/Shift}two')
    expect(await composer()).toHaveValue('one\ntwo')
    await view.user.click(await screen.findByRole('option', { name: /Other/ }))
    await waitFor(() => expect(view.path()).toBe(`/chat/${other}`))
    expect(await composer()).toHaveValue('')
    await view.user.click(screen.getAllByRole('button', { name: 'New chat' })[0]!)
    await waitFor(async () => expect(await composer()).toHaveValue('one\ntwo'))
    expect(space.runner.callsOf('chatStream')).toHaveLength(0)
  })

  it('explains that an agent is needed', async () => {
    openChat(createFakeRunner())
    expect(await screen.findByRole('link', { name: 'Create agent' })).toHaveAttribute('href', '/agents/new')
    expect(screen.queryByRole('textbox', { name: 'Message' })).not.toBeInTheDocument()
  })
})

describe('a conversation', () => {
  function openRunning(): {
    space: ReturnType<typeof createWorkspace>
    conversationId: string
    job: JobSummary
    tail: HeldStream
    say: (...events: ChatStreamEvent[]) => void
  } {
    const space = createWorkspace()
    const conversationId = space.begin('Report')
    const job = space.addTurn(conversationId, 'Write the report', RUNNING)
    const tail = createHeldStream()
    space.runner.streamFrames('streamJob', [tail])
    return { space, conversationId, job, tail, say: tail.send }
  }

  it('continues after a reload with the record, the text so far and the stream', async () => {
    const { space, conversationId, job, say } = openRunning()
    space.steps.set(job.id, [
      reply(1, 'I look first.', { toolCalls: [{ callId: 'c1', name: 'read_file', args: { path: 'notes/a.md' } }] }),
      {
        kind: 'tool_result',
        seq: 2,
        attempt: 1,
        createdAt: 1,
        durationMs: 1,
        callId: 'c1',
        name: 'read_file',
        ok: true,
        output: 'notes/a.md (9 bytes, UTF-8, lines 1-120 of 120)\nx',
      },
    ])
    const view = openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'start', jobId: job.id, conversationId }, { type: 'delta', seq: 3, text: 'So far ' })
    expect(await screen.findByText('I look first.')).toBeInTheDocument()
    expect(await screen.findByText('So far')).toBeInTheDocument()
    say({ type: 'delta', seq: 3, text: 'so good.' })
    expect(await screen.findByText('So far so good.')).toBeInTheDocument()

    const line = screen.getByRole('button', { name: /Read notes\/a\.md.*120 lines/ })
    await view.user.click(line)
    expect(line).toHaveAttribute('aria-expanded', 'true')
    expect(screen.getByRole('group', { name: 'Arguments' })).toHaveTextContent('"path": "notes/a.md"')
    expect(screen.getByRole('group', { name: 'Output' })).toHaveTextContent('lines 1-120 of 120')
  })

  it('shows nothing of a model that was given up for the next one', async () => {
    const { space, conversationId, job, say } = openRunning()
    space.steps.set(job.id, [reply(1, '', { interrupted: true }), reply(2, 'Here it is.')])
    openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'start', jobId: job.id, conversationId })
    expect(await screen.findByText('Here it is.')).toBeInTheDocument()
    expect(screen.queryByText('Interrupted')).toBeNull()
  })

  it('does not show a call that the person refused as a failure', async () => {
    const { space, conversationId, job, say } = openRunning()
    const asked = { name: 'read_file', args: { path: 'a.md' } }
    space.steps.set(job.id, [reply(1, '', { toolCalls: ['c1', 'c2'].map((callId) => ({ callId, ...asked })) })])
    openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'start', jobId: job.id, conversationId })
    for (const [callId, state] of [
      ['c1', 'denied'],
      ['c2', 'failed'],
    ] as const)
      say({ type: 'tool', callId, name: 'read_file', state })
    const [refused, failed] = await waitFor(() => [
      screen.getByRole('button', { name: /denied/ }),
      screen.getByRole('button', { name: /failed/ }),
    ])
    expect(refused!.querySelector('.text-bad')).toBeNull()
    expect(failed!.querySelector('.text-bad')).not.toBeNull()
  })

  it('continues after a broken stream without repeating a word', async () => {
    const { space, conversationId, job, tail, say } = openRunning()
    const second = createHeldStream()
    space.runner.streamFrames('streamJob', [tail, second])
    openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'delta', seq: 1, text: 'One two' })
    expect(await screen.findByText('One two')).toBeInTheDocument()
    tail.break()
    second.send({ type: 'start', jobId: job.id, conversationId }, { type: 'delta', seq: 1, text: 'One two three' })
    expect(await screen.findByText('One two three')).toBeInTheDocument()
    expect(screen.queryByText(/One two.*One two/)).not.toBeInTheDocument()
  })

  it('follows a turn that has continued while the page did not look', async () => {
    const { space, conversationId, job, tail, say } = openRunning()
    const second = createHeldStream()
    space.runner.streamFrames('streamJob', [tail, second])
    openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'done', reply: '', jobId: job.id, conversationId, status: 'awaiting_approval', costUsd: 0 })
    await screen.findByText('Ada needs your approval')
    space.change(conversationId, job.id, { status: 'running', attempt: job.attempt + 1 })
    space.tell(conversationId)
    await waitFor(() => expect(space.runner.callsOf('streamJob')).toHaveLength(2))
    second.send({ type: 'start', jobId: job.id, conversationId }, { type: 'delta', seq: 1, text: 'I continue.' })
    expect(await screen.findByText('I continue.')).toBeInTheDocument()
  })

  it('shows Stop at once and keeps the text so far', async () => {
    const { space, conversationId, job, say } = openRunning()
    space.runner.answer({ cancelJob: () => ({ job: { ...job, task: 'x', plainTask: null, context: null, result: null, output: null } }) })
    const view = openChat(space.runner, `/chat/${conversationId}`)
    say({ type: 'delta', seq: 1, text: 'Half an answer' })
    await screen.findByText('Half an answer')
    await view.user.click(screen.getByRole('button', { name: 'Stop' }))
    expect(await screen.findByRole('button', { name: 'Stopping…' })).toBeDisabled()
    expect(space.runner.callsOf('cancelJob')[0]!.params).toEqual({ jobId: job.id })
    space.change(conversationId, job.id, { status: 'cancelled', finishedAt: 1_700_000_001_000 })
    say({ type: 'done', reply: 'Half an answer', jobId: job.id, conversationId, status: 'cancelled', costUsd: 0 })
    space.tell(conversationId)
    expect(await screen.findByText('Stopped. The partial reply is kept.')).toBeInTheDocument()
    expect(screen.getByText('Half an answer')).toBeInTheDocument()
  })

  it('says why a turn failed and offers a retry', async () => {
    const space = createWorkspace()
    const conversationId = space.begin('Report')
    const job = space.addTurn(conversationId, 'Write it', {
      status: 'failed',
      error: 'model_auth',
      errorMessage: quote('Anthropic: the key was refused.'),
    })
    space.runner.answer({
      retryJob: () => ({ job: { ...job, id: makeId(), task: 'Write it', plainTask: null, context: null, result: null, output: null } }),
    })
    const view = openChat(space.runner, `/chat/${conversationId}`)
    const alert = await screen.findByRole('alert')
    expect(alert).toHaveTextContent('The provider rejected the API key.')
    expect(alert).toHaveTextContent('Anthropic: the key was refused.')
    expect(within(alert).getByRole('link', { name: 'Models & keys' })).toBeInTheDocument()
    await view.user.click(within(alert).getByRole('button', { name: 'Retry' }))
    await waitFor(() => expect(space.runner.callsOf('retryJob')[0]!.params).toEqual({ jobId: job.id }))
  })

  it('shows how many turns are ahead, and follows only the first', async () => {
    const { space, conversationId, job } = openRunning()
    space.addTurn(conversationId, 'And then this', { ...RUNNING, status: 'pending', startedAt: null })
    space.addTurn(conversationId, 'And that', { ...RUNNING, status: 'pending', startedAt: null })
    openChat(space.runner, `/chat/${conversationId}`)
    expect(await screen.findByText('Queued behind 1 turn')).toBeInTheDocument()
    expect(screen.getByText('Queued behind 2 turns')).toBeInTheDocument()
    expect(space.runner.callsOf('streamJob').map((call) => call.params.jobId)).toEqual([job.id])
  })

  it('shows an unpriced model as unpriced, never as free, and labels the demo', async () => {
    const space = createWorkspace()
    const conversationId = space.begin('Money')
    space.addAnswer(conversationId, space.addTurn(conversationId, 'one', { ...ENDED, costUsd: 0, priced: false }).id, 'First.')
    space.addAnswer(
      conversationId,
      space.addTurn(conversationId, 'two', { ...ENDED, model: { providerId: 'demo', model: 'demo' }, costUsd: 0 }).id,
      'Second.',
    )
    openChat(space.runner, `/chat/${conversationId}`)
    expect(await screen.findByText('unpriced')).toBeInTheDocument()
    expect(screen.getByText('Demo')).toBeInTheDocument()
    expect(screen.queryByText(/\$0/)).not.toBeInTheDocument()
  })

  it('asks by name before it is deleted', async () => {
    const space = createWorkspace()
    const conversationId = space.begin('Old plans')
    space.addAnswer(conversationId, space.addTurn(conversationId, 'hi', ENDED).id, 'Hello.')
    space.runner.answer({ deleteConversation: () => ({ ok: true }) })
    const view = openChat(space.runner, `/chat/${conversationId}`)
    await screen.findByText('Hello.')
    await view.user.click(screen.getByRole('button', { name: 'More' }))
    await view.user.click(await screen.findByRole('menuitem', { name: 'Delete conversation' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete “Old plans”?' })
    expect(dialog).toHaveTextContent('Jobs stay in Activity.')
    await view.user.click(within(dialog).getByRole('button', { name: 'Delete conversation' }))
    await waitFor(() => expect(view.path()).toBe('/chat'))
    expect(space.runner.callsOf('deleteConversation')[0]!.params).toEqual({ conversationId })
  })

  it('says before it is deleted that its running turn is stopped', async () => {
    const { space, conversationId } = openRunning()
    const view = openChat(space.runner, `/chat/${conversationId}`)
    await screen.findByRole('button', { name: 'Stop' })
    await view.user.click(screen.getByRole('button', { name: 'More' }))
    await view.user.click(await screen.findByRole('menuitem', { name: 'Delete conversation' }))
    expect(await screen.findByRole('alertdialog')).toHaveTextContent('Its running and waiting jobs are stopped.')
  })

  it('says that a conversation does not exist', async () => {
    openChat(createWorkspace().runner, `/chat/${makeId()}`)
    expect(await screen.findByText('Conversation not found')).toBeInTheDocument()
  })

  it('shows an approval in its place, and continues after the answer', async () => {
    const space = createWorkspace()
    const conversationId = space.begin('Tidy the notes')
    const job = space.addTurn(conversationId, 'Tidy the notes', { status: 'awaiting_approval', finishedAt: null, toolCalls: 1 })
    space.steps.set(job.id, [
      reply(1, 'I would overwrite them.', { toolCalls: [{ callId: 'c1', name: 'write_file', args: { path: 'n.md' } }] }),
    ])
    const approval = makeApproval({ jobId: job.id, callId: 'c1', reason: 'I would overwrite them.' })
    const tail = createHeldStream()
    space.runner.streamFrames('streamJob', [tail])
    space.runner.answer({
      listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
      previewApproval: () => ({ change: null }),
      resolveApproval: ({ body }) => {
        Object.assign(approval, { status: 'approved', remember: body.remember, answeredAt: 5 })
        return { ok: true, jobId: job.id, status: 'pending', decision: 'approve' }
      },
    })
    const view = openChat(space.runner, `/chat/${conversationId}`)
    const card = await screen.findByRole('article', { name: /Overwrite Documents/ })
    expect(await within(card).findByRole('group', { name: 'content' })).toHaveTextContent('First line Second line')
    // The agent's words stand above the card already, and the keys belong to the message.
    expect(screen.getAllByText('I would overwrite them.')).toHaveLength(1)
    await view.user.type(await composer(), 'a')
    expect(space.runner.callsOf('resolveApproval')).toHaveLength(0)
    await view.user.click(within(card).getByRole('button', { name: /Approve once/ }))
    expect(await within(card).findByText('Approved once')).toBeInTheDocument()
    // Nothing else is to be decided: the talk goes on.
    await waitFor(async () => expect(await composer()).toHaveFocus())
    space.change(conversationId, job.id, { status: 'running' })
    space.tell(conversationId)
    tail.send({ type: 'start', jobId: job.id, conversationId }, { type: 'delta', seq: 3, text: 'They are tidy now.' })
    expect(await screen.findByText('They are tidy now.')).toBeInTheDocument()
    expect(within(card).getByText('Approved once')).toBeInTheDocument()
  })
})

it('shows an approval once when the text arrives before its call', async () => {
  const space = createWorkspace()
  const conversationId = space.begin('Tidy')
  const job = space.addTurn(conversationId, 'Tidy the notes', RUNNING)
  const tail = createHeldStream()
  space.runner.streamFrames('streamJob', [tail])
  const approval = makeApproval({ jobId: job.id, callId: 'c1' })
  space.runner.answer({
    listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
    previewApproval: () => ({ change: null }),
  })
  openChat(space.runner, `/chat/${conversationId}`)
  await screen.findAllByText('Tidy the notes')
  tail.send({ type: 'delta', seq: 1, text: 'I write them again.' })
  tail.send({ type: 'done', reply: '', jobId: job.id, conversationId, status: 'awaiting_approval', costUsd: 0 })
  await screen.findByRole('article', { name: /Overwrite/ })
  space.steps.set(job.id, [reply(1, 'I write them again.', { toolCalls: [{ callId: 'c1', name: 'write_file', args: { path: 'n.md' } }] })])
  space.change(conversationId, job.id, { status: 'awaiting_approval' })
  space.runner.happen({
    type: 'job.step_recorded',
    payload: { jobId: job.id, conversationId, seq: 1, kind: 'reply', costUsd: 0 },
  })
  const line = await screen.findByRole('button', { name: /Writing n\.md/ })
  const cards = screen.getAllByRole('article', { name: /Overwrite/ })
  expect(cards).toHaveLength(1)
  expect(line.compareDocumentPosition(cards[0]!) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy()
})

it('answers only the focused card with A and R', async () => {
  const space = createWorkspace()
  const conversationId = space.begin('Two')
  const job = space.addTurn(conversationId, 'Do both', { ...RUNNING, status: 'awaiting_approval' })
  const approvals = ['c1', 'c2'].map((callId, at) => makeApproval({ jobId: job.id, callId, createdAt: at }))
  const names = ['one.md', 'two.md']
  space.steps.set(job.id, [
    reply(1, '', { toolCalls: names.map((path, at) => ({ callId: `c${at + 1}`, name: 'write_file', args: { path } })) }),
  ])
  space.runner.answer({
    listApprovals: () => ({ approvals, pending: 2, nextCursor: null }),
    previewApproval: () => ({ change: null }),
    resolveApproval: ({ body }) => {
      Object.assign(
        approvals.find(({ id }) => id === body.approvalId)!,
        { status: 'approved', remember: 'once', answeredAt: 5 },
      )
      return { ok: true, jobId: job.id, status: 'awaiting_approval', decision: 'approve' }
    },
  })
  const view = openChat(space.runner, `/chat/${conversationId}`)
  const cards = await screen.findAllByRole('article', { name: /Overwrite/ })
  ;(document.activeElement as HTMLElement).blur()
  await view.user.keyboard('a')
  expect(space.runner.callsOf('resolveApproval')).toHaveLength(0)
  cards[0]!.focus()
  await view.user.keyboard('a')
  await waitFor(() => expect(space.runner.callsOf('resolveApproval').map((call) => call.body.approvalId)).toEqual([approvals[0]!.id]))
  // The next one has the focus. A key that is still held does not answer it, and R begins its note.
  await waitFor(() => expect(cards[1]).toHaveFocus())
  fireEvent.keyDown(cards[1]!, { key: 'a', repeat: true })
  expect(space.runner.callsOf('resolveApproval')).toHaveLength(1)
  await view.user.keyboard('r')
  await waitFor(() => expect(within(cards[1]!).getByRole('textbox', { name: /Add a note/ })).toHaveFocus())
})

it('announces the end of a turn to screen readers', async () => {
  const space = createWorkspace()
  const conversationId = space.begin('Report')
  const job = space.addTurn(conversationId, 'Write it', RUNNING)
  const tail = createHeldStream()
  space.runner.streamFrames('streamJob', [tail])
  openChat(space.runner, `/chat/${conversationId}`)
  expect(await screen.findByText('Ada is answering')).toHaveAttribute('aria-live', 'polite')
  tail.send({ type: 'error', error: 'model_auth', message: 'No key.', detail: quote('No key.') })
  expect(await screen.findByText('Ada failed')).toHaveAttribute('aria-live', 'polite')
  space.change(conversationId, job.id, { status: 'cancelled' })
  space.tell(conversationId)
  expect(await screen.findByText('Ada was stopped')).toHaveAttribute('aria-live', 'polite')
})

it('names the channel of a conversation from a chat service', async () => {
  const { runner, begin, addTurn } = createWorkspace()
  const [outside, here] = [begin('From the train'), begin('At the desk')]
  addTurn(outside, 'Are you there?', { channel: 'telegram', status: 'completed' })
  addTurn(here, 'Are you there?', { status: 'completed' })
  const view = openChat(runner, `/chat/${outside}`)
  expect(await screen.findByText('via Telegram')).toBeInTheDocument()
  view.unmount()
  openChat(runner, `/chat/${here}`)
  await screen.findByRole('heading', { name: 'At the desk' })
  expect(screen.queryByText(/^via/)).not.toBeInTheDocument()
})

describe('a long conversation', () => {
  function openLong(turns: number) {
    messagesAPage = 3
    const space = createWorkspace()
    const conversationId = space.begin('Talk')
    const addTurn = (n: number) => space.addTurn(conversationId, `Turn ${n}.`, ENDED)
    for (let n = 1; n <= turns; n++) addTurn(n)
    const view = openChat(space.runner, `/chat/${conversationId}`)
    const shown = () =>
      screen
        .getByRole('group', { name: 'Chat' })
        .textContent.match(/(?<=Turn )\d+/g)
        ?.map(Number) ?? []
    const button = () => screen.findByRole('button', { name: 'Show earlier messages' })
    return { space, conversationId, addTurn, view, shown, button }
  }

  it('shows its earlier messages page by page, and keeps them when new ones arrive', async () => {
    const { space, conversationId, addTurn, view, shown, button } = openLong(7)
    await screen.findByText('Turn 7.')
    expect(shown()).toEqual([5, 6, 7])
    await view.user.click(await button())
    await screen.findByText('Turn 2.')
    expect(shown()).toEqual([2, 3, 4, 5, 6, 7])
    for (const n of [8, 9, 10, 11]) addTurn(n)
    space.tell(conversationId)
    await screen.findByText('Turn 11.')
    expect(shown()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    await view.user.click(await button())
    await screen.findByText('Turn 1.')
    expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).toBeNull()
  })

  it('keeps its earlier messages when new ones arrive while they are fetched', async () => {
    const { space, conversationId, addTurn, view, shown, button } = openLong(5)
    const [sent, arrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held = space.conversations.get(conversationId)!
    space.runner.answer({
      getConversation: async ({ query }) => {
        const page = pageOf(held, query.before)
        if (query.before === undefined) return page
        sent.resolve()
        await arrival.promise
        return page
      },
    })
    await screen.findByText('Turn 5.')
    await view.user.click(await button())
    await sent.promise
    const asked = space.runner.callsOf('getConversation').length
    addTurn(6)
    space.tell(conversationId)
    await waitFor(() => expect(space.runner.callsOf('getConversation').length).toBeGreaterThan(asked))
    arrival.resolve()
    await screen.findByText('Turn 1.')
    await screen.findByText('Turn 6.')
    expect(shown()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('keeps what the person reads in its place', async () => {
    const { view, button } = openLong(6)
    await screen.findByText('Turn 6.')
    vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) {
      return { bottom: [...document.querySelectorAll('article')].indexOf(this) * 100 } as DOMRect
    })
    const scroller = screen.getByRole('group', { name: 'Chat' })
    scroller.scrollTop = 40
    await view.user.click(await button())
    await screen.findByText('Turn 1.')
    expect(scroller.scrollTop).toBe(340)
    vi.restoreAllMocks()
  })

  it('offers to try again when its earlier messages could not be fetched', async () => {
    const { space, view, shown, button } = openLong(4)
    await screen.findByText('Turn 4.')
    space.runner.setReachable(false)
    await view.user.click(await button())
    expect((await screen.findAllByText(/is not responding/)).length).toBeGreaterThan(0)
    space.runner.setReachable(true)
    await view.user.click(await button())
    await screen.findByText('Turn 1.')
    expect(shown()).toEqual([1, 2, 3, 4])
  })
})

it('keeps the search for conversations over a reload, and when one of them is opened', async () => {
  const space = createWorkspace()
  const conversationId = space.begin('Ships')
  const asked: (string | undefined)[] = []
  space.runner.answer({
    listConversations: ({ query }) => {
      asked.push(query.q)
      return { conversations: [space.conversations.get(conversationId)!.conversation], nextCursor: null }
    },
  })
  const view = openChat(space.runner, '/chat?q=ship')
  const found = await screen.findByRole('option', { name: /Ships/ })
  expect(screen.getByRole('searchbox')).toHaveValue('ship')
  expect(asked[0]).toBe('ship')
  await view.user.click(found)
  await waitFor(() => expect(view.path()).toBe(`/chat/${conversationId}?q=ship`))
  expect(screen.getByRole('searchbox')).toHaveValue('ship')
  await view.user.clear(screen.getByRole('searchbox'))
  await waitFor(() => expect(view.path()).toBe(`/chat/${conversationId}`))
  await waitFor(() => expect(asked.at(-1)).toBeUndefined())
})

it('focuses the field of an opened chat', async () => {
  const space = createWorkspace()
  space.begin('Other')
  const view = openChat(space.runner)
  await waitFor(async () => expect(await composer()).toHaveFocus())
  await view.user.click(await screen.findByRole('option', { name: /Other/ }))
  await waitFor(async () => expect(await composer()).toHaveFocus())
  ;(document.activeElement as HTMLElement).blur()
  await view.user.click(screen.getAllByRole('button', { name: 'New chat' })[0]!)
  await waitFor(async () => expect(await composer()).toHaveFocus())
  expect(view.path()).toBe('/chat')
})
