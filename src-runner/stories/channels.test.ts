import { messageMatching } from '../testing/message-matching.ts'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Approval } from '../contract/approvals.ts'
import { systemClock } from '../lib/clock.ts'
import { createMessage } from '../lib/messages.ts'
import { createMemoryVault, type Vault } from '../lib/vault.ts'
import { ANNA, BEN, useTelegramRig } from '../testing/telegram-chat.ts'
import { TEST_SECRET } from '../testing/create-test-runner.ts'
import { readAsMember } from '../testing/read-as-member.ts'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import { ALL_TOOLS } from '../agent/tools/all-tools.ts'

describe('Telegram', () => {
  const rig = useTelegramRig()
  const { beginConnected, channelNow, personOf, letIn, said, untilSaid, jobs, newestJob, pending, playPost } = rig
  const people = async () => (await channelNow()).people

  it('connects with a token and answers a stranger once the owner has let them in', async () => {
    const channel = await beginConnected()
    expect(channel).toMatchObject({
      name: `@${rig.bot.botName}`,
      link: `https://t.me/${rig.bot.botName}`,
      agentName: 'Ada',
      enabled: true,
      people: [],
    })
    await expect.poll(channelNow).toMatchObject({ status: 'open', problem: null })

    rig.bot.say(ANNA, 'Delete everything you know')
    await untilSaid(ANNA, 'I told my owner that you wrote. They can give you access in Deckhand.')
    rig.bot.say(ANNA, 'Did you hear me?')
    await expect.poll(() => rig.bot.waitingUpdates()).toBe(0)
    const person = (await personOf(ANNA))!
    expect(person).toMatchObject({ role: 'requested', displayName: 'Anna Berg', handle: '@anna_berg', conversationId: null })
    expect(said(ANNA)).toHaveLength(1)
    expect(await jobs()).toEqual([])
    await expect.poll(() => rig.runner.notifications.map(({ kind }) => kind)).toContain('channel_request')

    await rig.runner.client.ok('updateChannelPerson', { params: { channelId: channel.id, personId: person.id }, body: { role: 'owner' } })
    await untilSaid(ANNA, /I am Ada/)
    rig.runner.modelServer.play({ text: ['Four.'] }, { text: ['You asked for two and two.'] })
    rig.bot.say(ANNA, 'What is two and two?')
    await untilSaid(ANNA, 'Four.')
    expect(await newestJob()).toMatchObject({
      channel: 'telegram',
      task: 'What is two and two?',
      context: { fromOwner: true, channelId: channel.id, personId: person.id },
    })
    expect(rig.bot.calls.filter(({ method }) => method === 'sendChatAction').length).toBeGreaterThanOrEqual(1)

    rig.bot.say(ANNA, 'What did I ask?')
    await untilSaid(ANNA, 'You asked for two and two.')
    const prompt = JSON.stringify(rig.runner.modelServer.received.at(-1)!.body)
    expect(prompt).toContain('What is two and two?')
    expect(prompt).not.toContain('Delete everything')
  })

  it('answers messages while the clock of the machine is days ahead', async () => {
    let ahead = 0
    await beginConnected({}, { clock: { ...systemClock, now: () => Date.now() + ahead } })
    rig.bot.clock.now = Date.now
    await letIn(ANNA)
    ahead = 3 * 86_400_000
    rig.runner.modelServer.play({ text: ['Four.'] })
    rig.bot.say(ANNA, 'What is two and two?')
    await untilSaid(ANNA, 'Four.')
  })

  it('refuses a wrong token and a bot that is already connected', async () => {
    const channel = await beginConnected()
    const { agentId } = channel
    const wrong = `${rig.bot.botId}:AAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`
    const tries = [
      [{ agentId, kind: 'telegram', token: wrong, baseUrl: rig.bot.url }, 422, 'channel_refused'],
      [{ agentId, kind: 'telegram', token: rig.bot.token, baseUrl: 'http://127.0.0.1:9' }, 422, 'channel_refused'],
      [{ agentId, kind: 'telegram', token: rig.bot.token, baseUrl: 'file:///etc/passwd' }, 400, 'invalid_request'],
      [{ agentId, kind: 'telegram', token: rig.bot.token, baseUrl: rig.bot.url }, 409, 'channel_exists'],
      [{ agentId: channel.id, kind: 'telegram', token: rig.bot.token, baseUrl: rig.bot.url }, 404, 'agent_not_found'],
    ] as const
    for (const [body, status, error] of tries) {
      const answer = await rig.runner.client.ask('createChannel', { body })
      expect(answer).toMatchObject({ status, body: { error } })
      expect(JSON.stringify(answer)).not.toMatch(/AAaaaa|AAGbWf/)
    }
    expect(await rig.runner.vault.get(`channel:${channel.id}:token`)).toBe(rig.bot.token)
    expect((await rig.runner.client.ok('listChannels', { query: {} })).channels).toHaveLength(1)
  })

  it('keeps the token out of logs, database and responses', async () => {
    const channel = await beginConnected()
    for (const kind of ['reset', 'garbage'] as const) rig.bot.fault('getUpdates', { kind })
    rig.bot.fault('getUpdates', { kind: 'redirect', to: `/bot${rig.bot.token}/getMe` })
    rig.bot.fault('getUpdates', { kind: 'error', code: 500, description: `Internal: /bot${rig.bot.token}/getUpdates` })
    rig.bot.say(ANNA, 'Hello?')
    await expect.poll(() => rig.runner.logLines.filter((line) => line.includes('a channel does not work')).length).toBeGreaterThanOrEqual(3)
    await expect.poll(() => personOf(ANNA)).toBeDefined()
    const answers = JSON.stringify([await channelNow(), await rig.runner.client.ok('getChannel', { params: { channelId: channel.id } })])
    const database =
      readFileSync(join(rig.runner.dataDir, 'deckhand.db')).toString('latin1') +
      readFileSync(join(rig.runner.dataDir, 'deckhand.db-wal')).toString('latin1')
    for (const text of [answers, database, rig.runner.logLines.join('\n')]) expect(text).not.toContain(rig.bot.token)
  })

  it('treats a guest as untrusted, who decides nothing', async () => {
    await beginConnected()
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    playPost('hello', 'Done.')
    rig.bot.say(BEN, 'Post hello')
    await expect.poll(pending).toHaveLength(1)
    const [approval] = (await pending()) as [Approval]
    expect(approval.taints.untrusted).toMatchObject({ cause: createMessage('taint_started_by', { channel: 'telegram' }) })
    expect((await newestJob()).context).toMatchObject({ fromOwner: false, personName: 'Ben' })
    await rig.bot.until(() => rig.bot.sent.some((message) => message.chatId === ANNA.id && message.buttons.length === 2))

    rig.bot.press(BEN, `approve:${approval.id}`)
    await rig.bot.until(() => rig.bot.notes.length === 1)
    expect(rig.bot.notes[0]!.text).toBe('Only the owner of this agent can answer.')
    rig.runner.modelServer.play({ text: ['I heard you.'] })
    rig.bot.say(BEN, `approve ${shortCodeOf(approval.id)}`)
    await expect.poll(async () => (await jobs()).length).toBe(2)
    expect(await pending()).toHaveLength(1)
    expect(rig.posted).toEqual([])

    rig.bot.press(ANNA, `approve:${approval.id}`)
    await rig.bot.until(() => rig.bot.notes.length === 2)
    expect(rig.bot.notes[1]!.text).toBe('Approved.')
    await untilSaid(BEN, 'Done.')
    expect(rig.posted).toEqual(['hello'])
  })

  it('writes to people in the language of the owner, while typed commands stay English', async () => {
    await beginConnected({}, { config: { language: 'de' } })
    await letIn(ANNA)
    expect(said(ANNA)[1]).toMatch(/^Hallo, ich bin .*\/stop stoppt, was ich gerade tue\./s)
    playPost('hello', 'Erledigt.')
    rig.bot.say(ANNA, 'Schreib hello')
    await expect.poll(pending).toHaveLength(1)
    const { id } = (await pending())[0]!
    const asks = () => rig.bot.sent.find((message) => message.buttons.length > 0)
    await rig.bot.until(() => asks() !== undefined)
    expect(asks()!.text).toMatch(/braucht deine Freigabe\..*schreib approve \w{4} oder reject \w{4}\. Ohne Antwort/s)
    expect(asks()!.buttons.map(({ text }) => text)).toEqual(['Freigeben', 'Ablehnen'])
    rig.bot.say(ANNA, `approve ${shortCodeOf(id)}`)
    await untilSaid(ANNA, 'Freigegeben.')
    await rig.runner.client.ok('testChannel', { params: { channelId: (await channelNow()).id } })
    await untilSaid(ANNA, /^Das ist ein Test von Deckhand\./)
    rig.runner.runner.changeLanguage('en')
    await expect.poll(async () => (rig.bot.say(ANNA, '/stop'), said(ANNA).includes('There is nothing to stop.'))).toBe(true)
  })

  it('shows a guest no private data, and asks the owner about a reply that may hold some', async () => {
    await beginConnected()
    const { agentId } = await channelNow()
    await rig.runner.client.ok('updateAgent', {
      params: { agentId },
      body: { folders: [rig.runner.makeFolder({ 'diary.txt': 'I like Carl.' })] },
    })
    await rig.runner.client.ok('createMemory', { body: { agentId, text: 'The person likes Carl.' } })
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play({ text: ['Hello Ben.'] })
    rig.bot.say(BEN, 'Hello')
    await untilSaid(BEN, 'Hello Ben.')
    const prompt = JSON.stringify(rig.runner.modelServer.received.at(-1)!.body)
    expect(prompt).toContain('The messages come from Ben, a guest')
    expect(prompt).not.toContain('Carl')

    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/diary.txt' } }] },
      { text: ['The person likes Carl.'] },
    )
    rig.bot.say(BEN, 'Whom does Anna like?')
    await untilSaid(BEN, 'My owner will read my reply before it is sent to you.')
    const held = async () => (await rig.runner.client.ok('listOutbox', { query: { limit: 50, state: 'undeliverable' } })).messages
    expect(await held()).toMatchObject([{ kind: 'reply', text: 'The person likes Carl.', problem: messageMatching('guest') }])
    expect((await rig.runner.client.ok('listAttention')).items).toMatchObject([{ kind: 'message_undeliverable' }])
    expect(said(BEN)).not.toContain('The person likes Carl.')
    await rig.runner.client.ok('retryOutbound', { params: { messageId: (await held())[0]!.id } })
    await untilSaid(BEN, 'The person likes Carl.')

    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_2', name: 'read_file', args: { path: 'folder-1/diary.txt' } }] },
      { text: ['You like Carl.'] },
    )
    rig.bot.say(ANNA, 'Whom do I like?')
    await untilSaid(ANNA, 'You like Carl.')
    expect(JSON.stringify(rig.runner.modelServer.received.at(-1)!.body)).toContain('- The person likes Carl.')
  })

  it('answers an approval by button, and removes the buttons wherever it was answered', async () => {
    await beginConnected()
    await letIn(ANNA)
    playPost('one')
    rig.bot.say(ANNA, 'Post one')
    await rig.bot.until(() => rig.bot.sent.some((message) => message.buttons.length === 2))
    const asked = rig.bot.sent.find((message) => message.buttons.length === 2)!
    expect(asked.text).toContain('Post "one"')
    rig.bot.press(ANNA, asked.buttons[0]!.callback_data)
    await untilSaid(ANNA, 'It is posted.')
    expect(rig.posted).toEqual(['one'])
    await rig.bot.until(() => asked.buttons.length === 0)

    playPost('two', 'Then not.')
    rig.bot.say(ANNA, 'Post two')
    await rig.bot.until(() => rig.bot.sent.some((message) => message.buttons.length === 2))
    const second = rig.bot.sent.find((message) => message.buttons.length === 2)!
    const reject = second.buttons[1]!.callback_data
    const [approval] = (await pending()) as [Approval]
    await rig.runner.client.ok('resolveApproval', { body: { approvalId: approval.id, decision: 'reject' } })
    await untilSaid(ANNA, 'Then not.')
    await rig.bot.until(() => second.buttons.length === 0)
    rig.bot.press(ANNA, reject)
    await rig.bot.until(() => rig.bot.notes.length === 2)
    expect(rig.bot.notes.map((note) => note.text)).toEqual(['Approved.', 'This was already rejected.'])
    expect(rig.posted).toEqual(['one'])
  })

  it('links an approval at the present address of the dashboard', async () => {
    await beginConnected({}, { config: { origins: ['http://127.0.0.1:3000', 'http://192.168.1.5:3000'] } })
    await letIn(ANNA)
    const { runner } = rig.runner
    const access = { host: '127.0.0.1', authMode: 'local-trust' as const, workerSecret: TEST_SECRET, hosts: [] }
    const moves = {
      '192.168.1.9': (origins: string[]) => runner.changeAccess({ ...access, origins }),
      '10.20.30.40': (origins: string[]) => runner.changeOrigins(origins),
      'deckhand.home': (origins: string[]) =>
        runner.changeAccess({ ...access, origins: ['http://192.168.1.9:3000', ...origins], appUrl: 'http://deckhand.home:3000/' }),
    }
    for (const [address, move] of Object.entries(moves)) {
      await move(['http://127.0.0.1:3000', `http://${address}:3000`])
      playPost(address, `Not from ${address}.`)
      rig.bot.say(ANNA, 'Post it')
      await untilSaid(ANNA, new RegExp(`http://${address}:3000/approvals`))
      const [approval] = (await pending()) as [Approval]
      await rig.runner.client.ok('resolveApproval', { body: { approvalId: approval.id, decision: 'reject' } })
      await untilSaid(ANNA, `Not from ${address}.`)
    }
  })

  it('answers an approval by code, only for the agent that asks', async () => {
    const channel = await beginConnected()
    await letIn(ANNA)
    const other = await rig.runner.addAgent({ name: 'Bob' })
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text: 'theirs' } }] })
    await rig.runner.client.ok('submitTask', { body: { task: 'Post theirs', agentId: other.id } })
    await expect.poll(pending).toHaveLength(1)
    const [theirs] = (await pending()) as [Approval]
    rig.bot.press(ANNA, `approve:${theirs.id}`)
    rig.bot.press(ANNA, 'approve:not-an-id')
    rig.bot.press(ANNA, `choose:${theirs.id}:0`)
    await rig.bot.until(() => rig.bot.notes.length === 3)
    expect(rig.bot.notes.map((note) => note.text)).toEqual(Array(3).fill('This question is no longer open.'))
    rig.bot.say(ANNA, `approve ${shortCodeOf(theirs.id)}`)
    await untilSaid(ANNA, `No open question has the code ${shortCodeOf(theirs.id)}.`)
    expect(rig.posted).toEqual([])

    playPost('mine')
    rig.bot.say(ANNA, 'Post mine')
    await expect.poll(pending).toHaveLength(2)
    const mine = (await pending()).find((approval) => approval.agentId === channel.agentId)!
    rig.bot.say(ANNA, `Reject ${shortCodeOf(mine.id).toLowerCase()}`)
    await untilSaid(ANNA, 'Rejected.')
    await untilSaid(ANNA, 'It is posted.')
    expect(rig.posted).toEqual([])
  })

  it("answers an agent's question in words", async () => {
    await beginConnected({}, { tools: ALL_TOOLS })
    await letIn(ANNA)
    const ask = (id: string) => ({ toolCalls: [{ id, name: 'ask_person', args: { question: 'Which colour?' } }] })
    rig.runner.modelServer.play(ask('call_1'), { text: ['Green it is.'] }, ask('call_2'), { text: ['Blue it is.'] })
    rig.bot.say(ANNA, 'Paint it')
    await untilSaid(ANNA, /Which colour\?/)
    const question = rig.bot.sent.find((message) => message.text.includes('Which colour?'))!
    rig.bot.say(ANNA, 'green', { replyTo: question.messageId })
    await untilSaid(ANNA, 'Green it is.')
    expect(JSON.stringify(rig.runner.modelServer.received.at(-1)!.body)).toContain('green')

    rig.bot.say(ANNA, 'Paint the other')
    await rig.bot.until(() => rig.bot.sent.filter((message) => message.text.includes('Which colour?')).length === 2)
    rig.bot.say(ANNA, 'blue')
    await untilSaid(ANNA, 'Blue it is.')
    expect(await jobs()).toHaveLength(2)
  })

  it("stores received files for the agent, and sends the agent's files", async () => {
    await beginConnected({ folders: [] })
    const folder = rig.runner.makeFolder()
    await letIn(ANNA)
    const { agentId } = await channelNow()
    rig.runner.modelServer.play({ text: ['No folder.'] })
    rig.bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha'), caption: 'Keep this' })
    await untilSaid(ANNA, 'No folder.')
    expect((await newestJob()).task).toMatch(/^Keep this\n\n\(The file “a\.txt” did not arrive: this agent has no folder/)

    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/Received/a.txt' } }] },
      { text: ['It says alpha.'] },
    )
    rig.bot.sendFile(ANNA, { name: '../../.a.txt', bytes: Buffer.from('alpha') })
    await untilSaid(ANNA, 'It says alpha.')
    expect(await newestJob()).toMatchObject({ title: 'a.txt', task: 'Files that came with this message:\n- folder-1/Received/a.txt' })

    rig.runner.modelServer.play({ text: ['Three.'] })
    rig.bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('beta'), album: 'x', caption: 'Look at these' })
    rig.bot.sendFile(ANNA, { name: 'photo', bytes: Buffer.from('jpeg'), as: 'photo', album: 'x' })
    rig.bot.sendFile(ANNA, { name: 'huge.zip', bytes: Buffer.from('z'), size: 20_000_001, album: 'x' })
    await untilSaid(ANNA, 'Three.')
    const { task } = await newestJob()
    expect(task).toMatch(
      /^Look at these\n\nFiles that came with this message:\n- folder-1\/Received\/a \(2\)\.txt\n- folder-1\/Received\/photo-\d+\.jpg\n\n/,
    )
    expect(task).toContain('“huge.zip” did not arrive: it is larger than the 20 MB')
    expect(readdirSync(join(folder, 'Received')).length).toBe(3)
    expect(readFileSync(join(folder, 'Received', 'a (2).txt'), 'utf8')).toBe('beta')
    expect(existsSync(join(folder, '..', '.a.txt'))).toBe(false)

    rig.runner.modelServer.play(
      {
        toolCalls: [
          { id: 'call_2', name: 'return_result', args: { summary: 'Two files', files: ['folder-1/Received/a.txt', 'folder-1/gone.txt'] } },
        ],
      },
      { toolCalls: [{ id: 'call_3', name: 'return_result', args: { summary: 'A file', files: ['folder-1/Received/a.txt'] } }] },
      { text: ['Here it is.'] },
    )
    rig.bot.say(ANNA, 'Send it back')
    await rig.bot.until(() => rig.bot.sent.some((message) => message.document !== null))
    expect(rig.bot.sent.at(-2)!.text).toBe('Here it is.')
    expect(rig.bot.sent.at(-1)!.document).toEqual({ name: 'a.txt', bytes: Buffer.from('alpha') })
  })

  it('splits a long reply into messages and loses nothing', async () => {
    await beginConnected()
    await letIn(ANNA)
    const words = Array.from({ length: 2000 }, (_, i) => `word${i}`)
    rig.runner.modelServer.play({ text: [`**Here:** ${words.join(' ')}`] })
    rig.bot.say(ANNA, 'Talk')
    await untilSaid(ANNA, /word1999$/)
    const pieces = said(ANNA).filter((text) => text.includes('word'))
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.join(' ').match(/word\d+/g)).toEqual(words)
  })

  it('sends a reply of a megabyte as its beginning and a file, each once over a crash', async () => {
    await beginConnected()
    await letIn(ANNA)
    const answer = `# Everything\n\n${Array.from({ length: 100_000 }, (_, i) => `line ${i}`).join('\n')}`
    rig.runner.modelServer.play({ text: [answer] })
    rig.bot.fault('sendDocument', { kind: 'stall' })
    rig.bot.say(ANNA, 'Tell me everything')
    await rig.bot.until(() => rig.bot.calls.some(({ method }) => method === 'sendDocument'))
    expect(said(ANNA).at(-1)).toMatch(/^Everything\n\s*line 0\n.*📄 This is the beginning\. The full text is in answer\.md\.$/s)
    await rig.runner.restart({ crash: true })
    await rig.bot.until(() => rig.bot.sent.some(({ document }) => document !== null))
    expect(rig.bot.sent.at(-1)!.document).toEqual({ name: 'answer.md', bytes: Buffer.from(answer) })
    expect(said(ANNA).filter((text) => text.includes('line'))).toHaveLength(1)
    await expect.poll(async () => (await rig.outbox()).filter(({ kind }) => kind === 'reply')).toMatchObject([{ state: 'sent', tries: 0 }])
  })

  it('receives messages that were written while it was down, each once', async () => {
    await beginConnected()
    await letIn(ANNA)
    rig.runner.modelServer.play({ text: ['One.'] })
    rig.bot.say(ANNA, 'one')
    await untilSaid(ANNA, 'One.')
    // What was stored is not read again, whether it was confirmed or not.
    rig.bot.repeatUpdates(1)
    rig.runner.modelServer.play({ text: ['Two.'] }, { text: ['Three.'] })
    await rig.runner.restart({ crash: true })
    rig.bot.say(ANNA, 'two')
    await untilSaid(ANNA, 'Two.')
    await rig.runner.restart()
    rig.bot.say(ANNA, 'three')
    await untilSaid(ANNA, 'Three.')
    expect((await jobs()).map((job) => job.title)).toEqual(['three', 'two', 'one'])
    expect(new Set((await jobs()).map((job) => job.conversationId)).size).toBe(1)
  })

  it('receives each message once and in order over crashes', async () => {
    await beginConnected()
    await letIn(ANNA)
    const messages = Array.from({ length: 40 }, (_, i) => `message ${i}`)
    const written = messages.slice()
    for (let life = 0; life < 4; life++) {
      for (const text of written.splice(0, 10)) rig.bot.say(ANNA, text)
      await expect.poll(async () => (await jobs()).length).toBeGreaterThan(life * 10 + life * 3)
      // What this process does after its crash reaches nobody.
      rig.bot.fault('getUpdates', { kind: 'reset' }, 1_000_000)
      const reborn = rig.runner.restart({ crash: true })
      rig.bot.breakPoll()
      await reborn
      rig.bot.clearFaults()
    }
    await expect.poll(async () => (await jobs()).length).toBe(40)
    expect((await jobs()).map((job) => job.title)).toEqual(messages.reverse())
    expect(new Set((await jobs()).map((job) => job.conversationId)).size).toBe(1)
  })

  it('receives a message once after a crash during its download', async () => {
    await beginConnected()
    const folder = rig.runner.makeFolder()
    const { agentId } = await channelNow()
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    const fetched = () => rig.bot.calls.filter(({ method }) => method === 'getFile').length
    rig.bot.fault('getFile', { kind: 'stall' })
    rig.bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha'), caption: 'Read this' })
    rig.bot.say(ANNA, 'And then this')
    await rig.bot.until(() => fetched() === 1)
    expect(await jobs()).toEqual([])
    rig.runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
    await rig.runner.restart({ crash: true })
    await untilSaid(ANNA, 'Two.')
    expect((await jobs()).map((job) => job.title)).toEqual(['And then this', 'Read this'])
    expect(readdirSync(join(folder, 'Received'))).toEqual(['a.txt'])
    expect(fetched()).toBe(2)
  })

  it('receives a message when it can be stored again', async () => {
    await beginConnected()
    await letIn(ANNA)
    const makeRoom = rig.runner.fillDisk()
    rig.runner.modelServer.play({ text: ['Done.'] })
    const long = 'x'.repeat(4000)
    for (let i = 0; i < 5; i++) rig.bot.say(ANNA, `${i} ${long}`)
    await rig.bot.until(() => rig.bot.calls.filter(({ method }) => method === 'getUpdates').length > 0)
    await expect.poll(() => rig.runner.logLines.join('\n')).toContain('a channel does not work')
    makeRoom()
    await expect.poll(async () => (await jobs()).length).toBe(5)
    expect((await jobs()).map((job) => job.title.slice(0, 1))).toEqual(['4', '3', '2', '1', '0'])
  })

  it('reports a message to a person who has blocked the bot as undeliverable', async () => {
    await beginConnected()
    await letIn(ANNA)
    rig.runner.modelServer.play({ text: ['Nobody reads this.'] })
    rig.bot.block(ANNA)
    rig.bot.say(ANNA, 'Hello')
    await expect
      .poll(async () => (await rig.runner.client.ok('listOutbox', { query: { limit: 50, state: 'undeliverable' } })).messages)
      .toMatchObject([{ kind: 'reply', text: 'Nobody reads this.', problem: messageMatching('blocked'), tries: 1 }])
  })

  it('shows no delivery problem of a stranger', async () => {
    await beginConnected()
    rig.bot.block(BEN)
    rig.bot.say(BEN, 'Hello?')
    await expect.poll(() => rig.outbox()).toMatchObject([{ kind: 'notification', state: 'not_sent', problem: messageMatching('blocked') }])
    expect(await personOf(BEN)).toMatchObject({ role: 'requested' })
    expect((await rig.runner.client.ok('listAttention')).items.map(({ kind }) => kind)).toEqual(['channel_request'])
    expect(rig.runner.notifications.map(({ kind }) => kind)).not.toContain('delivery_impossible')
  })

  it('reports a revoked token, and accepts a new one of the same bot only', async () => {
    const channel = await beginConnected()
    await letIn(ANNA)
    rig.bot.revokeToken()
    await expect.poll(channelNow).toMatchObject({ status: 'logged_out', problem: messageMatching('@BotFather') })
    await expect.poll(() => rig.runner.notifications.map(({ kind }) => kind)).toContain('channel_logged_out')
    const params = { channelId: channel.id }
    expect(await rig.runner.client.ok('testChannel', { params })).toMatchObject({ ok: false })

    rig.bot.acceptToken(`${rig.bot.botId}:BBnewToken-0123456789abcdefghijklmnop`)
    await rig.runner.client.ok('updateChannel', { params, body: { token: rig.bot.token } })
    await expect.poll(channelNow).toMatchObject({ status: 'open', problem: null })
    rig.runner.modelServer.play({ text: ['Back again.'] })
    rig.bot.say(ANNA, 'Hello')
    await untilSaid(ANNA, 'Back again.')

    rig.bot.acceptToken('7000000002:CCotherBot-0123456789abcdefghijklmnop', { id: 7_000_000_002, name: 'another_bot' })
    expect(await rig.runner.client.ask('updateChannel', { params, body: { token: rig.bot.token } })).toMatchObject({
      status: 422,
      body: { error: 'channel_refused', message: expect.stringContaining('another_bot') as string },
    })
  })

  it('offers its commands in the menu, and obeys them', async () => {
    await beginConnected()
    await letIn(ANNA)
    expect(rig.bot.menu()).toEqual([
      { command: 'new', description: 'Starts a new conversation' },
      { command: 'stop', description: 'Stops what I am doing' },
      { command: 'agents', description: 'Lists the agents that you can write to' },
      { command: 'help', description: 'Shows these commands' },
    ])
    rig.bot.say(ANNA, '/help')
    await untilSaid(ANNA, /\/stop stops what I am doing/)
    rig.runner.modelServer.play({ text: ['One.'] })
    rig.bot.say(ANNA, 'one')
    await untilSaid(ANNA, 'One.')
    rig.bot.say(ANNA, '/new')
    await untilSaid(ANNA, 'Your next message starts a new conversation.')
    rig.runner.modelServer.play({ text: ['Never', ' said'], fault: { kind: 'stall', afterFrames: 1 } })
    rig.bot.say(ANNA, 'two')
    await rig.runner.modelServer.untilReceived(2)
    expect(JSON.stringify(rig.runner.modelServer.received.at(-1)!.body)).not.toContain('"one"')
    rig.bot.say(ANNA, '/stop@deckhand_test_bot')
    await expect.poll(async () => (await newestJob()).status).toBe('cancelled')
    await untilSaid(ANNA, /stopped/)
    rig.bot.say(ANNA, '/stop')
    await untilSaid(ANNA, 'There is nothing to stop.')
  })

  it('treats what the owner forwards as untrusted', async () => {
    await beginConnected()
    await letIn(ANNA)
    playPost('spam', 'I asked.')
    rig.bot.say(ANNA, '/stop', { forwardedFrom: BEN })
    await expect.poll(pending).toHaveLength(1)
    expect(await newestJob()).toMatchObject({ title: '/stop', task: 'Forwarded. These are the words of Ben, not mine:\n\n/stop' })
    expect((await newestJob()).context).toMatchObject({ fromOwner: false })
    expect((await pending())[0]!.taints.untrusted).toMatchObject({ cause: createMessage('taint_started_by', { channel: 'telegram' }) })
    rig.bot.say(ANNA, `approve ${shortCodeOf((await pending())[0]!.id)}`, { forwardedFrom: BEN })
    await expect.poll(async () => (await jobs()).length).toBe(2)
    expect(rig.posted).toEqual([])
  })

  it('ignores groups, lists 50 requests and cleans the names of strangers', async () => {
    await beginConnected()
    rig.bot.say(ANNA, 'Hello all', { group: true })
    for (let i = 0; i < 60; i++) rig.bot.say({ id: 10_000 + i, first_name: `User\u202e ${i}\n`, last_name: 'x'.repeat(500) }, 'Hi')
    await expect.poll(() => rig.bot.waitingUpdates()).toBe(0)
    const asked = await people()
    expect(asked).toHaveLength(50)
    expect(
      asked.every(({ role, displayName }) => role === 'requested' && /^User \d+ x+$/.test(displayName) && displayName.length <= 64),
    ).toBe(true)
    await rig.bot.untilSent(50)
    expect(new Set(rig.bot.sent.map(({ chatId }) => chatId)).size).toBe(50)
    expect(rig.bot.sent.some(({ chatId }) => chatId < 0)).toBe(false)
    expect(await jobs()).toEqual([])
  })

  it('lists a person with the pairing code even if the list is full, without a role', async () => {
    const channel = await beginConnected()
    for (let i = 0; i < 60; i++) rig.bot.say({ id: 10_000 + i, first_name: 'Anna', last_name: 'Berg' }, 'It is me')
    rig.bot.say(ANNA, 'It is me')
    await expect.poll(() => rig.bot.waitingUpdates()).toBe(0)
    expect(await personOf(ANNA)).toBeUndefined()
    rig.bot.say(BEN, `/start ${channel.pairingCode}`, { forwardedFrom: ANNA })
    rig.bot.say(ANNA, channel.pairingCode!.toLowerCase())
    await untilSaid(ANNA, `Deckhand now shows you with the ID ${ANNA.id}. Confirm there that it is you.`)
    expect(await personOf(ANNA)).toMatchObject({ role: 'requested' })
    expect(await personOf(BEN)).toBeUndefined()
    expect(await people()).toHaveLength(51)
    expect(await jobs()).toEqual([])

    await rig.setRole(ANNA, 'refused')
    const before = said(ANNA).length
    rig.bot.say(ANNA, channel.pairingCode!)
    await expect.poll(() => rig.bot.waitingUpdates()).toBe(0)
    expect(await personOf(ANNA)).toMatchObject({ role: 'refused' })
    expect(said(ANNA)).toHaveLength(before)
  })

  it('shows the pairing code to owners, and to members of the dashboard nowhere', async () => {
    const channel = await beginConnected()
    rig.bot.say(ANNA, 'It is me')
    await untilSaid(ANNA, /told my owner/)
    const shown = await readAsMember(rig.runner, { agentId: channel.agentId, channelId: channel.id })
    expect(shown).toContain('"pairingCode":null')
    expect(shown).toContain('channel.changed')
    expect(shown).not.toContain(channel.pairingCode)
    expect((await channelNow()).pairingCode).toBe(channel.pairingCode)
  })

  it('receives nothing while it is off, and the rest when it is on again', async () => {
    const channel = await beginConnected()
    await letIn(ANNA)
    const params = { channelId: channel.id }
    expect((await rig.runner.client.ok('updateChannel', { params, body: { enabled: false } })).channel).toMatchObject({
      status: 'off',
      enabled: false,
    })
    rig.runner.modelServer.play({ text: ['I am back.'] })
    rig.bot.say(ANNA, 'Are you there?')
    expect(await rig.runner.client.ok('testChannel', { params })).toMatchObject({
      ok: false,
      message: expect.objectContaining({ code: 'chat_off' }),
    })
    expect(rig.bot.waitingUpdates()).toBe(1)
    await rig.runner.client.ok('updateChannel', { params, body: { enabled: true } })
    await untilSaid(ANNA, 'I am back.')
    expect(await rig.runner.client.ok('testChannel', { params })).toEqual({ ok: true, message: null })
    await untilSaid(ANNA, /This is a test from Deckhand/)
    const { lastRoundTripAt } = await channelNow()
    expect(lastRoundTripAt).toBeGreaterThan(Date.now() - 60_000)
  })

  it('leaves no token if it is deleted while its token changes', async () => {
    const vault = createMemoryVault()
    let meanwhile = async () => {}
    const slow: Vault = { ...vault, set: (key, value) => meanwhile().then(() => vault.set(key, value)) }
    const { id } = await beginConnected({}, { vault: slow })
    const params = { channelId: id }
    const tokenNow = () => vault.get(`channel:${id}:token`)
    expect(await tokenNow()).toBe(rig.bot.token)
    meanwhile = async () => {
      meanwhile = async () => {}
      await rig.runner.client.ok('deleteChannel', { params })
      await expect.poll(tokenNow).toBeNull()
    }
    expect(await rig.runner.client.ask('updateChannel', { params, body: { token: rig.bot.token } })).toMatchObject({ status: 404 })
    await expect.poll(tokenNow).toBeNull()
  })

  it('is deleted with its agent, and so is the token', async () => {
    const channel = await beginConnected()
    await letIn(ANNA)
    await rig.runner.addAgent({ name: 'Bob' })
    await rig.runner.client.ok('deleteAgent', { params: { agentId: channel.agentId } })
    expect((await rig.runner.client.ok('listChannels', { query: {} })).channels).toEqual([])
    await expect.poll(() => rig.runner.vault.get(`channel:${channel.id}:token`)).toBeNull()
    const asked = rig.bot.calls.length
    rig.bot.say(ANNA, 'Anybody?')
    expect(rig.bot.waitingUpdates()).toBe(1)
    expect(rig.bot.calls.length).toBe(asked)
  })

  it('connects nothing in safe mode', async () => {
    await beginConnected()
    await letIn(ANNA)
    await rig.runner.restart({ config: { safeMode: true } })
    const asked = rig.bot.calls.length
    rig.bot.say(ANNA, 'Crash again')
    expect(await channelNow()).toMatchObject({ status: 'off', enabled: true, problem: { code: 'chat_safe_mode' } })
    expect(rig.bot.calls.length).toBe(asked)
    rig.runner.modelServer.play({ text: ['Here.'] })
    await rig.runner.restart({ config: { safeMode: false } })
    await untilSaid(ANNA, 'Here.')
  })

  it('ignores a refused person and stops their jobs', async () => {
    const channel = await beginConnected()
    const ben = await letIn(BEN, 'allowed')
    rig.runner.modelServer.play({ text: ['Never'], fault: { kind: 'stall', afterFrames: 1 } })
    rig.bot.say(BEN, 'Work')
    await rig.runner.modelServer.untilReceived(1)
    await rig.runner.client.ok('updateChannelPerson', { params: { channelId: channel.id, personId: ben.id }, body: { role: 'refused' } })
    await expect.poll(async () => (await newestJob()).status).toBe('cancelled')
    const before = said(BEN).length
    rig.bot.say(BEN, 'Hello?')
    await expect.poll(() => rig.bot.waitingUpdates()).toBe(0)
    expect(await jobs()).toHaveLength(1)
    expect(said(BEN)).toHaveLength(before)
  })
})
