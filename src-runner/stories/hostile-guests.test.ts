import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CreateAgent } from '../contract/agents.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import type { ServedUser } from '../testing/bot-api-server/bot-api-server.ts'
import { ANNA, BEN, useTelegramRig } from '../testing/telegram-chat.ts'

const SECRET = 'kiwi-canary-7731'

/** A guest who wants more than they may. The model is on their side. */
describe('a guest on Telegram', () => {
  const rig = useTelegramRig()
  const { personOf, setRole, letIn, said, outbox } = rig
  const begin = (fields: Partial<CreateAgent> = {}) => rig.beginConnected({ autonomy: 'on_its_own', ...fields })
  const untilSaid = (user: ServedUser, text: string) => expect.poll(() => said(user).join('\n')).toContain(text)

  it('gets no file that the owner has not approved', async () => {
    const { agentId } = await begin()
    const folder = rig.runner.makeFolder({ 'diary.txt': SECRET })
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'return_result', args: { summary: 'Here.', files: ['folder-1/diary.txt'] } }] },
      { text: ['There you are.'] },
    )
    rig.bot.say(BEN, 'Send me the diary')
    await untilSaid(BEN, 'My owner will read my reply')
    expect(await outbox({ state: 'undeliverable' })).toMatchObject([{ kind: 'reply', text: 'There you are.' }])
    expect(rig.bot.sent.filter(({ document }) => document !== null)).toEqual([])
  })

  it('gets no part of a long reply that waits for the owner', async () => {
    const { agentId } = await begin()
    const folder = rig.runner.makeFolder({ 'diary.txt': SECRET })
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    const answer = `The word is ${SECRET}.\n`.repeat(5000)
    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/diary.txt' } }] },
      { text: [answer] },
    )
    rig.bot.say(BEN, 'Read the diary to me')
    await untilSaid(BEN, 'My owner will read my reply')
    expect(said(BEN).join()).not.toContain(SECRET)
    expect(rig.bot.sent.filter(({ document }) => document !== null)).toEqual([])
    const [held] = await outbox({ state: 'undeliverable' })
    await rig.runner.client.ok('retryOutbound', { params: { messageId: held!.id } })
    await expect
      .poll(() =>
        rig.bot.sent.filter(({ document }) => document !== null).map(({ chatId, document }) => [chatId, document!.bytes.toString()]),
      )
      .toEqual([[BEN.id, answer.trim()]])
  })

  it('reads no memory from earlier turns of the owner in the same conversation', async () => {
    const { agentId } = await begin()
    await rig.runner.client.ok('createMemory', { body: { agentId, text: `The word is ${SECRET}.` } })
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play({ text: ['Hello Ben.'] }, { text: [`It is ${SECRET}.`] }, { text: [`The person's word is ${SECRET}.`] })
    rig.bot.say(BEN, 'Hello')
    await untilSaid(BEN, 'Hello Ben.')
    const { conversationId } = (await personOf(BEN))!
    const turn = await rig.runner.client.ok('chat', {
      body: { agentId, message: 'Which word do you know?', conversationId: conversationId! },
    })
    expect(turn.reply).toContain(SECRET)
    rig.bot.say(BEN, 'What did you two talk about?')
    await expect.poll(async () => (await outbox()).filter(({ kind }) => kind === 'reply')).toHaveLength(2)
    await untilSaid(BEN, 'My owner will read my reply')
    expect(said(BEN).join()).not.toContain(SECRET)
  })

  it('reads nothing that the owner wrote into the same conversation in the app', async () => {
    const { agentId } = await begin()
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play({ text: ['Hello Ben.'] }, { text: ['All right.'] }, { text: [`They said: ${SECRET}.`] })
    rig.bot.say(BEN, 'Hello')
    await untilSaid(BEN, 'Hello Ben.')
    const { conversationId } = (await personOf(BEN))!
    await rig.runner.client.ok('chat', { body: { agentId, message: `Between us: ${SECRET}`, conversationId: conversationId! } })
    rig.bot.say(BEN, 'What did you two say?')
    await untilSaid(BEN, 'My owner will read my reply')
    expect(said(BEN).join()).not.toContain(SECRET)
    expect(await outbox({ state: 'undeliverable' })).toMatchObject([{ problem: { code: 'sent_guest_private' } }])
  })

  it.each(['allowed', 'refused'] as const)('gets no pending message for the owner after becoming %s', async (role) => {
    const { agentId } = await begin({ autonomy: 'ask_first' })
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [rig.runner.makeFolder()] } })
    await letIn(BEN)
    // Long enough to change the role meanwhile, also on a busy machine.
    rig.bot.fault('sendMessage', { kind: 'error', code: 429, description: 'Too Many Requests: retry after 6', retryAfter: 6 })
    const write = { name: 'write_file', args: { path: `folder-1/${SECRET}.txt`, content: SECRET } }
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', ...write }] })
    await rig.runner.client.ok('submitTask', { body: { agentId, task: 'Write it down' } })
    await expect
      .poll(() => outbox({ state: 'pending' }))
      .toMatchObject([{ kind: 'approval', problem: expect.objectContaining({ code: 'chat_slow_down' }) }])
    await setRole(BEN, role)
    const withdrawn = (await outbox()).find(({ kind }) => kind === 'approval')!
    expect(withdrawn.state).toBe('not_sent')
    // The list of undelivered messages does not show their recipients.
    const again = await rig.runner.client.ask('retryOutbound', { params: { messageId: withdrawn.id } })
    expect(again).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', message: expect.stringContaining('The recipient is') as string },
    })
    await expect.poll(async () => (await outbox({ state: 'pending' })).length).toBe(0)
    expect(said(BEN).join()).not.toContain(SECRET)
  })

  it("does not see the owner's answer to a question of the guest's job", async () => {
    await begin()
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question: 'What is the word?' } }] },
      { text: [`The word is ${SECRET}.`] },
    )
    rig.bot.say(BEN, 'Find out the word')
    await untilSaid(ANNA, 'What is the word?')
    const { approvals } = await rig.runner.client.ok('listApprovals', { query: { status: 'pending', limit: 5 } })
    await rig.runner.client.ok('resolveApproval', { body: { approvalId: approvals[0]!.id, decision: 'approve', answer: SECRET } })
    await expect.poll(async () => (await outbox()).filter(({ text }) => text.includes(SECRET))).toHaveLength(1)
    await untilSaid(BEN, 'My owner will read my reply')
    expect(said(BEN).join()).not.toContain(SECRET)
  })

  it('has the same limits of turns and files over new conversations', async () => {
    const { agentId } = await begin()
    const folder = rig.runner.makeFolder()
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await rig.runner.client.ok('updateSettings', { body: { pauseAll: true } })
    await letIn(BEN, 'allowed')
    for (let n = 1; n <= 7; n++) {
      rig.bot.say(BEN, '/new')
      rig.bot.sendFile(BEN, { name: `${n}.txt`, bytes: Buffer.from(`file ${n}`), caption: `Read ${n}` })
    }
    await expect.poll(() => said(BEN).filter((text) => text.includes('did not take this one'))).toHaveLength(2)
    const { jobs } = await rig.runner.client.ok('listJobs', { query: { channel: 'telegram', limit: 20 } })
    expect(jobs).toHaveLength(5)
    expect(readdirSync(join(folder, 'Received')).sort()).toEqual([1, 2, 3, 4, 5].map((n) => `${n}.txt`))

    rig.bot.say(BEN, '/stop')
    await expect.poll(async () => (await rig.runner.client.ok('countJobs')).pending).toBe(0)
  })

  it.each(['button', 'code'] as const)(
    'waits for the owner, who is asked what an agent behind theirs may do, and says so by %s',
    async (by) => {
      await begin()
      const folder = rig.runner.makeFolder()
      await rig.runner.addAgent({ name: 'Bob', autonomy: 'ask_first', folders: [folder] })
      await letIn(ANNA)
      await letIn(BEN, 'allowed')
      rig.runner.modelServer.play(
        { toolCalls: [{ id: 'call_1', name: 'delegate', args: { agent: 'Bob', task: 'Write hello.' } }] },
        { toolCalls: [{ id: 'call_2', name: 'write_file', args: { path: 'folder-1/hello.txt', content: 'hello' } }] },
        { text: ['It is written.'] },
        { text: ['Bob has written it.'] },
      )
      rig.bot.say(BEN, 'Let Bob write hello')
      await untilSaid(BEN, 'I need to ask my owner')
      const pending = async () => (await rig.runner.client.ok('listApprovals', { query: { status: 'pending', limit: 5 } })).approvals
      // First the delegation to Bob needs an approval, because a guest's words are in it; then what Bob does.
      for (const tool of ['delegate', 'write_file']) {
        await expect.poll(async () => (await pending()).map((one) => one.tool)).toEqual([tool])
        const { id } = (await pending())[0]!
        await rig.bot.until(() => rig.bot.sent.some(({ buttons }) => buttons.some((button) => button.callback_data === `approve:${id}`)))
        if (by === 'button') rig.bot.press(ANNA, `approve:${id}`)
        else rig.bot.say(ANNA, `approve ${shortCodeOf(id)}`)
      }
      await untilSaid(BEN, 'Bob has written it.')
      expect(readdirSync(folder)).toEqual(['hello.txt'])
    },
  )

  it('decides nothing as a former owner', async () => {
    const { agentId } = await begin({ autonomy: 'ask_first' })
    const folder = rig.runner.makeFolder()
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(BEN)
    const write = { name: 'write_file', args: { path: 'folder-1/a.txt', content: 'a' } }
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', ...write }] }, { text: ['Written.'] })
    await rig.runner.client.ok('submitTask', { body: { agentId, task: 'Write it down' } })
    await untilSaid(BEN, 'needs your approval')
    const { approvals } = await rig.runner.client.ok('listApprovals', { query: { status: 'pending', limit: 5 } })
    const approvalId = approvals[0]!.id
    await letIn(ANNA)

    const asked = rig.bot.sent.find(({ buttons }) => buttons.length > 0)!
    const press = async (user: ServedUser, data: string) => {
      const pressId = rig.bot.press(user, data)
      await expect.poll(() => rig.bot.notes.find((note) => note.pressId === pressId)?.text).toBeDefined()
      return rig.bot.notes.find((note) => note.pressId === pressId)!.text
    }
    expect(await press(BEN, `approve:${approvalId}`)).toBe('Only the owner of this agent can answer.')
    rig.bot.say(ANNA, `approve ${shortCodeOf(approvalId)}`, { forwardedFrom: BEN })
    for (const text of [`approve ${shortCodeOf(approvalId)}`, 'yes']) rig.bot.say(BEN, text, { replyTo: asked.messageId })
    await expect
      .poll(async () => (await rig.runner.client.ok('listJobs', { query: { channel: 'telegram', limit: 5 } })).jobs.length)
      .toBe(3)
    for (const data of [`choose:${approvalId}:99`, `choose:${approvalId}`, `approve:${agentId}`, `APPROVE:${approvalId}`, 'x'.repeat(64)]) {
      expect(await press(ANNA, data)).toBe('This question is no longer open.')
    }
    expect(readdirSync(folder)).toEqual([])
    expect(await press(ANNA, `approve:${approvalId}`)).toBe('Approved.')
    expect(await press(ANNA, `approve:${approvalId}`)).toMatch(/already|answered/i)
    await expect.poll(() => readdirSync(folder)).toEqual(['a.txt'])
  })

  it('gets no reply of a job from the time as owner that ends after it', async () => {
    await begin()
    await letIn(BEN)
    const hold = rig.runner.modelServer.holdBefore(0)
    rig.runner.modelServer.play({ text: [`The word is ${SECRET}.`] })
    rig.bot.say(BEN, 'Which word?')
    await rig.runner.modelServer.untilReceived(1)
    await letIn(ANNA)
    hold.release()
    await untilSaid(BEN, 'My owner will read my reply')
    expect(await outbox({ state: 'undeliverable' })).toMatchObject([{ problem: { code: 'sent_former_owner' } }])
    expect(said(BEN).join()).not.toContain(SECRET)
  })

  it('gets no undelivered message from the time as owner', async () => {
    await begin()
    await letIn(BEN)
    rig.bot.fault('sendMessage', { kind: 'error', code: 403, description: 'Forbidden: bot was blocked by the user' })
    rig.runner.modelServer.play({ text: [`The word is ${SECRET}.`] })
    rig.bot.say(BEN, 'Which word?')
    await expect.poll(() => outbox({ state: 'undeliverable' })).toHaveLength(1)
    const [failed] = await outbox({ state: 'undeliverable' })
    await setRole(BEN, 'allowed')
    expect(await outbox({ state: 'undeliverable' })).toEqual([])
    expect(await rig.runner.client.ask('retryOutbound', { params: { messageId: failed!.id } })).toMatchObject({ status: 400 })
  })

  it('a task of the owner that begins like an answer is not swallowed', async () => {
    await begin()
    await letIn(ANNA)
    rig.runner.modelServer.play({ text: ['Written.'] })
    rig.bot.say(ANNA, 'Answer this mail for me please')
    await untilSaid(ANNA, 'Written.')
  })

  it('a channel is not created if its agent is deleted while it connects', async () => {
    const vault = createMemoryVault()
    const { id: agentId } = await rig.begin({}, { vault })
    const set = vault.set.bind(vault)
    vault.set = async (key, value) => {
      await set(key, value)
      await rig.runner.client.ok('deleteAgent', { params: { agentId } })
    }
    const body = { agentId, kind: 'telegram' as const, token: rig.bot.token, baseUrl: rig.bot.url }
    expect(await rig.runner.client.ask('createChannel', { body })).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
    expect(await rig.runner.client.ok('listChannels', { query: {} })).toEqual({ channels: [], nextCursor: null })
  })
})
