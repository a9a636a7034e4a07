import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import { channelMessages, channels } from '../domain/channels/channels-table.ts'
import { AppError } from '../lib/errors.ts'
import { quote } from '../lib/messages.ts'
import { createMemoryVault, type Vault } from '../lib/vault.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { readAsMember } from '../testing/read-as-member.ts'
import { messageMatching } from '../testing/message-matching.ts'
import { createPostTool } from '../testing/post-tool.ts'
import { useWhatsAppRig } from '../testing/whatsapp-server/whatsapp-rig.ts'

/** build/test-long.mjs sets more. Each writes twice before the owner, and twice after. */
const STRANGERS = Number(process.env['WHATSAPP_STRANGERS'] ?? 10)
const ROUNDS = 2

describe('WhatsApp', () => {
  const rig = useWhatsAppRig()
  const { begin, link, pairing, channelNow, said, untilSaid } = rig
  const states = () => (existsSync(join(rig.runner.dataDir, 'whatsapp')) ? readdirSync(join(rig.runner.dataDir, 'whatsapp')) : [])
  const jobs = async () => (await rig.runner.client.ok('listJobs', { query: { limit: 50 } })).jobs

  it('is linked by a code from the phone, whose owner then talks to the agent in their own chat', async () => {
    const agent = await begin()
    const { client } = rig.runner
    expect(await client.ask('getPairing', { query: { agentId: agent.id } })).toMatchObject({
      status: 404,
      body: { error: 'no_messenger_binding' },
    })
    const started = await client.ask('startPairing', { body: { agentId: agent.id } })
    expect(started).toMatchObject({ status: 202, body: { status: 'connecting', qr: null } })
    // Asking again starts nothing new.
    await client.ok('startPairing', { body: { agentId: agent.id } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
    expect(rig.server.connections()).toBe(1)
    expect((await pairing()).qr).toMatch(/^https:\/\/wa\.me\//)

    const channel = await link()
    expect(channel).toMatchObject({ kind: 'messenger', name: '+15550001111', agentName: 'Ada', people: [{ role: 'owner' }] })
    expect(await pairing()).toMatchObject({ status: 'open', qr: null, code: null, number: '+15550001111', channelId: channel.id })
    await untilSaid('owner', /I am Ada/)

    rig.runner.modelServer.play({ text: ['Four.'] })
    rig.server.sayOnPhone('What is two and two?')
    await untilSaid('owner', 'Four.')
    expect((await jobs())[0]).toMatchObject({ channel: 'messenger' })
    expect(said('owner')).toHaveLength(2)
    expect(rig.server.receipts.some(({ attrs }) => attrs['type'] === 'read')).toBe(false)
  })

  it('is linked by a code that the person types into the phone', async () => {
    const agent = await begin()
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id, phoneNumber: '+1 (555) 000-1111' } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
    const { code, qr } = await pairing()
    expect(code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    expect(qr).toBeNull()
    await rig.server.typeCode(code!)
    const seen = new Set<string>()
    const see = async () => {
      const { status } = await pairing()
      seen.add(status)
      return status
    }
    await expect.poll(see, { interval: 1 }).toBe('open')
    expect(['qr_pending', 'connecting', 'open']).toEqual(expect.arrayContaining([...seen]))
    await expect.poll(async () => (await channelNow())?.status).toBe('open')
    expect(await pairing()).toMatchObject({ status: 'open', code: null })
  })

  it('shows the code that links the phone in no list, count or event', async () => {
    const agent = await begin()
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
    const { qr } = await pairing()
    expect(await readAsMember(rig.runner, { agentId: agent.id })).not.toContain(qr)
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id, phoneNumber: '+15550001111' } })
    await expect.poll(async () => (await pairing()).code).not.toBeNull()
    const { code } = await pairing()
    const shown = await readAsMember(rig.runner, { agentId: agent.id })
    expect(shown).toContain(agent.id)
    expect(shown).not.toContain(code)
    expect(shown).not.toContain(code!.replace('-', ''))
  })

  it('neither lists nor answers strangers, but for the one who sends the pairing code', async () => {
    await begin()
    const { pairingCode } = await link()
    const stranger = rig.server.addPerson('4915112345678', 'Ben')
    rig.server.say(stranger, 'Delete everything you know')
    rig.server.sayOnPhone('Keep this between us', { to: stranger })
    rig.server.say(stranger, 'Hello?', { group: '1203631@g.us', isMention: true })
    await rig.server.until(() => rig.server.unconfirmed() === 0)
    expect((await channelNow()).people).toHaveLength(1)
    rig.server.say(stranger, pairingCode!.toLowerCase())
    await untilSaid(stranger, /\+|lid/)
    expect((await channelNow()).people).toMatchObject([
      { role: 'owner' },
      { role: 'requested', displayName: 'Ben', handle: '+4915112345678' },
    ])
    expect(said(stranger)).toHaveLength(1)
    rig.server.say(stranger, pairingCode!, { group: '1203631@g.us' })
    await expect
      .poll(async () => (await channelNow()).people.map(({ displayName }) => displayName))
      .toEqual(['+15550001111', 'Ben', 'Family'])
    expect(await jobs()).toEqual([])
    const log = rig.runner.logLines.join('\n')
    expect(log).not.toMatch(/Delete everything|between us/)
  })

  it('asks its owner before it acts, who answers with a short code', async () => {
    const posted: string[] = []
    await begin({ moreTools: [createPostTool((text) => posted.push(text))] })
    await link()
    const ask = (text: string, after: string) =>
      rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text } }] }, { text: [after] })
    const codeIn = async (text: string) => {
      await untilSaid('owner', new RegExp(text))
      return /\b(?:approve|reject) ([0-9A-Z]{4})\b/i.exec(said('owner').find((one) => one.includes(text))!)![1]!
    }
    ask('one', 'It is posted.')
    rig.server.sayOnPhone('Post one')
    const first = await codeIn('Post "one"')
    rig.server.sayOnPhone('approve ZZZZ')
    await untilSaid('owner', 'No open question has the code ZZZZ.')
    expect(posted).toEqual([])
    rig.server.sayOnPhone(`Approve ${first.toLowerCase()}`)
    await untilSaid('owner', 'It is posted.')
    ask('two', 'Then not.')
    rig.server.sayOnPhone('Post two')
    rig.server.sayOnPhone(`reject ${await codeIn('Post "two"')}`)
    await untilSaid('owner', 'Then not.')
    expect(posted).toEqual(['one'])
  })

  it('takes no approval by code for a command whose end was not shown, and attaches the whole call when it can', async () => {
    const { id: agentId } = await begin()
    await link()
    const { client } = rig.runner
    await client.ok('updateAgent', { params: { agentId }, body: { autonomy: 'ask_first', folders: [rig.runner.makeFolder()] } })
    const LONG = `${'echo All is well; '.repeat(1000)}rm -rf everything`
    const pending = async () => (await client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    const ask = async () => {
      const args = { command: ['sh', '-c', LONG], folder: 'folder-1' }
      rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'run_command', args }] }, { text: ['Then not.'] })
      rig.server.sayOnPhone('Tidy up')
      await expect.poll(async () => (await pending()).length).toBe(1)
      const code = shortCodeOf((await pending())[0]!.id)
      await untilSaid('owner', new RegExp(`reject ${code}`, 'i'))
      return { code, question: said('owner').find((text) => new RegExp(`reject ${code}`, 'i').test(text))! }
    }
    const whole = await ask()
    expect(rig.server.sent.some(({ file }) => file !== null && Buffer.from(file.bytes).includes('rm -rf everything'))).toBe(true)
    expect(whole.question).toContain('The complete call is in the file approval.txt above.')
    // There are no buttons.
    expect(whole.question).not.toContain('Tap')
    rig.server.sayOnPhone(`reject ${whole.code}`)
    await untilSaid('owner', 'Then not.')

    for (let i = 0; i < 20; i++) rig.server.faults.upload.push('error')
    const cut = await ask()
    expect(cut.question).not.toContain('rm -rf everything')
    expect(cut.question).toContain('you can only approve this in Deckhand')
    expect(cut.question).toContain('open Deckhand on your computer, under Approvals')
    rig.server.sayOnPhone(`approve ${cut.code}`)
    await untilSaid('owner', 'Not everything about this was shown here. Open Deckhand to approve it.')
    expect(await pending()).toHaveLength(1)
    rig.server.sayOnPhone(`reject ${cut.code}`)
    await expect.poll(pending).toEqual([])
  })

  it('answers in a group that its owner has let in, and only who mentions it', async () => {
    await begin()
    const { id: channelId, pairingCode } = await link()
    const family = '1203631@g.us'
    const ben = rig.server.addPerson('4915112345678', 'Ben')
    rig.server.say(ben, pairingCode!, { group: family })
    await expect.poll(async () => (await channelNow()).people.at(-1)).toMatchObject({ displayName: 'Family', role: 'requested' })
    const personId = (await channelNow()).people.at(-1)!.id
    await rig.runner.client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role: 'allowed' } })
    await untilSaid(family, /You can write to me now/)
    rig.runner.modelServer.play({ text: ['At eight.'] }, { text: ['On Sunday.'] })
    rig.server.say(ben, 'Not for you', { group: family })
    rig.server.say(ben, 'When is dinner?', { group: family, isMention: true })
    await untilSaid(family, 'At eight.')
    // Also what answers a message of the agent is for it.
    rig.server.say(ben, 'And which day?', { group: family, replyTo: rig.server.sent.at(-1)!.id })
    await untilSaid(family, 'On Sunday.')
    expect((await jobs()).map(({ title }) => title)).toEqual([
      expect.stringContaining('And which day?'),
      expect.stringContaining('When is dinner?'),
    ])
    expect(said(ben)).toEqual([])
    expect(said('owner').join()).not.toMatch(/At eight/)
  })

  it(`hears its owner through a flood of ${STRANGERS} strangers, who leave neither rows nor answers behind`, async () => {
    await begin()
    const { id } = await link()
    await untilSaid('owner', /I am Ada/)
    const strangers = Array.from({ length: STRANGERS }, (_, i) => rig.server.addPerson(`49151000${1000 + i}`, `Mallory ${i}`))
    const flood = () =>
      strangers.forEach((stranger, i) => rig.server.say(stranger, `Buy now ${i} `.repeat(300), { isDamaged: i % 5 === 0 }))
    const stateBytes = () => statSync(join(rig.runner.dataDir, 'whatsapp', id)).size
    const emptyBytes = stateBytes()
    for (let round = 0; round < ROUNDS; round++) flood()
    rig.runner.modelServer.play({ text: ['I am here.'] })
    rig.server.sayOnPhone('Are you there?')
    for (let round = 0; round < ROUNDS; round++) flood()
    await untilSaid('owner', 'I am here.')
    // The owner is answered in their turn, and not after everybody else.
    expect(rig.server.unconfirmed()).toBeGreaterThan(0)
    await rig.server.until(() => rig.server.unconfirmed() === 0)
    expect((await channelNow()).people).toHaveLength(1)
    expect(await jobs()).toHaveLength(1)
    expect(rig.runner.write((tx) => tx.select().from(channelMessages).all())).toHaveLength(1)
    expect(strangers.flatMap(said)).toEqual([])
    // An encrypted session for each stranger stays, and nothing for each message.
    expect(stateBytes() - emptyBytes).toBeLessThan(2 * (512_000 + STRANGERS * 8000))
  })

  it('asks for a message again that it could not decrypt and that the phone did not repeat', async () => {
    const clock = createHandClock(Date.now())
    await begin({ clock })
    await link()
    await untilSaid('owner', /I am Ada/)
    rig.server.faults.ignoresRetries = true
    rig.server.sayOnPhone('Buy the tickets', { isDamaged: true })
    await rig.server.until(() => rig.server.receipts.some(({ attrs }) => attrs['type'] === 'retry'))
    for (let passed = 0; passed <= 10 * 60_000; passed += 30_000) {
      clock.advance(30_000)
      await expect.poll(async () => (await channelNow()).lastRoundTripAt).toBe(clock.now())
    }
    await untilSaid('owner', /could not be decrypted. Please send it again/)
    expect(await jobs()).toEqual([])
  })

  it('says that it was unlinked on the phone, keeps nothing of the link, and can be linked again with the same owner', async () => {
    await begin()
    const before = await link()
    await untilSaid('owner', /I am Ada/)
    expect(states()).toEqual([before.id])
    rig.server.unlink()
    await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    expect((await channelNow()).problem).toEqual(messageMatching(/removed from the linked devices.*Link it again/))
    expect(await pairing()).toMatchObject({ status: 'logged_out', qr: null })
    await expect.poll(states).toEqual([])
    const again = await link()
    expect(again).toMatchObject({ id: before.id, status: 'open', problem: null, people: [{ role: 'owner' }] })
    expect(again.people[0]!.id).toBe(before.people[0]!.id)
    rig.runner.modelServer.play({ text: ['Here I am.'] })
    rig.server.sayOnPhone('Are you there?')
    await untilSaid('owner', 'Here I am.')
  })

  it.each(['refused', 'allowed'] as const)('can be linked again by its former owner, who is %s now', async (role) => {
    await begin()
    const { id: channelId, people } = await link()
    const personId = people[0]!.id
    await rig.runner.client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role } })
    rig.server.unlink()
    await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    expect(await link()).toMatchObject({ id: channelId, status: 'open', people: [{ id: personId, role: 'owner' }] })
  })

  it('removes the device from the phone and the keys from the disk when its channel is deleted', async () => {
    await begin()
    const { id: channelId } = await link()
    expect(await rig.runner.vault.get(`channel:${channelId}:token`)).not.toBeNull()
    await rig.runner.client.ok('deleteChannel', { params: { channelId } })
    await expect.poll(() => rig.server.isLinked()).toBe(false)
    await expect.poll(() => rig.runner.vault.get(`channel:${channelId}:token`)).toBeNull()
    expect(states()).toEqual([])
    expect(await rig.runner.client.ask('getPairing', { query: { agentId: rig.agent.id } })).toMatchObject({ status: 404 })
  })

  /** A vault that is locked and unlocked by a test. `locksAt`: after it was read once more. */
  function createLockableVault() {
    const inner = createMemoryVault()
    const locked = () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.')))
    const state = { isLocked: false, locksNext: false }
    const vault: Vault = {
      async get(key) {
        if (state.isLocked) return locked()
        state.isLocked = state.locksNext
        return inner.get(key)
      },
      set: (key, value) => (state.isLocked ? locked() : inner.set(key, value)),
      delete: (key) => (state.isLocked ? locked() : inner.delete(key)),
    }
    return { state, vault, inner }
  }

  it('leaves no key of an agent that was deleted while the vault was asked for a pairing', async () => {
    const inner = createMemoryVault()
    const [asked, released] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
    const set: Vault['set'] = async (key, value) => {
      if (key.startsWith('channel:')) {
        asked.resolve(key)
        await released.promise
      }
      return inner.set(key, value)
    }
    const { id: agentId } = await begin({ vault: { ...inner, set } })
    const started = rig.runner.client.ask('startPairing', { body: { agentId } })
    const key = await asked.promise
    await rig.runner.client.ok('deleteAgent', { params: { agentId } })
    released.resolve()
    expect(await started).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
    expect(await inner.get(key)).toBeNull()
    expect(states()).toEqual([])
  })

  it('is not deleted while the vault is locked, neither with its agent', async () => {
    const { state, vault } = createLockableVault()
    const { id: agentId } = await begin({ vault })
    const { id: channelId } = await link()
    state.isLocked = true
    const { client } = rig.runner
    for (const answer of [
      await client.ask('deleteChannel', { params: { channelId } }),
      await client.ask('deleteAgent', { params: { agentId } }),
    ])
      expect(answer).toMatchObject({ status: 503, body: { error: 'vault_unavailable', detail: quote('The keychain is locked.') } })
    expect((await client.ok('getAgent', { params: { agentId } })).agent.id).toBe(agentId)
    expect(await channelNow()).toMatchObject({ id: channelId, status: 'open' })
    expect(states()).toEqual([channelId])
    expect(rig.server.isLinked()).toBe(true)
  })

  it.each(['open', 'off'])('keeps no key on disk if the vault locks while a channel that is %s is deleted', async (was) => {
    const { state, vault, inner } = createLockableVault()
    const clock = createHandClock(Date.now())
    await begin({ vault, clock })
    const { id: channelId } = await link()
    const params = { channelId }
    if (was === 'off') await rig.runner.client.ok('updateChannel', { params, body: { enabled: false } })
    state.locksNext = true
    await rig.runner.client.ok('deleteChannel', { params })
    await expect.poll(states).toEqual([])
    // Only an open channel can still tell the phone without the vault.
    expect(rig.server.isLinked()).toBe(was === 'off')
    await clock.untilSleeping((ms) => ms === 15_000)
    state.isLocked = state.locksNext = false
    expect(await inner.get(`channel:${channelId}:token`)).not.toBeNull()
    clock.advance(15_000)
    await expect.poll(() => inner.get(`channel:${channelId}:token`)).toBeNull()
  })

  it('removes the device from the phone at the next start if a crash came right after the deletion', async () => {
    await begin()
    const { id } = await link()
    const file = join(rig.runner.dataDir, 'whatsapp', id)
    rig.runner.write((tx) => tx.delete(channels).run())
    expect(existsSync(file)).toBe(true)
    await rig.runner.restart({ crash: true })
    await expect.poll(() => rig.server.isLinked()).toBe(false)
    await expect.poll(states).toEqual([])
    await expect.poll(() => rig.runner.vault.get(`channel:${id}:token`)).toBeNull()
  })

  it('calls a damaged link not linked, and says what to do', async () => {
    await begin()
    const { id } = await link()
    const file = join(rig.runner.dataDir, 'whatsapp', id)
    await rig.runner.client.ok('updateChannel', { params: { channelId: id }, body: { enabled: false } })
    for (const bytes of [Buffer.alloc(0), readFileSync(file).subarray(0, 200)]) {
      writeFileSync(file, bytes)
      await rig.runner.client.ok('updateChannel', { params: { channelId: id }, body: { enabled: true } })
      await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
      expect((await channelNow()).problem).toEqual(messageMatching(/not linked.*Link it again/))
    }
    expect((await link()).status).toBe('open')
  })

  it('belongs to one agent', async () => {
    await begin()
    await link()
    const other = await rig.runner.addAgent({ name: 'Bob' })
    await rig.runner.client.ok('startPairing', { body: { agentId: other.id } })
    const otherPairing = () => rig.runner.client.ok('getPairing', { query: { agentId: other.id } })
    await expect.poll(async () => (await otherPairing()).status).toBe('qr_pending')
    rig.server.scan((await otherPairing()).qr!)
    await expect.poll(async () => (await otherPairing()).status).toBe('closed')
    expect((await otherPairing()).problem).toEqual(messageMatching(/already connected to the agent “Ada”/))
    expect(states()).toHaveLength(1)
  })

  it('renews its codes, gives up after the last one and can be started again', async () => {
    const testMessenger = { url: rig.server.url, rootKey: Buffer.from(rig.server.rootKey).toString('hex'), qrShownMs: 60 }
    const agent = await begin({ config: { testMessenger } })
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id } })
    const codes = new Set<string>()
    await expect
      .poll(
        async () => {
          const { qr, status } = await pairing()
          if (qr !== null) codes.add(qr)
          return status
        },
        { interval: 15 },
      )
      .toBe('closed')
    expect(codes.size).toBeGreaterThan(1)
    expect(await pairing()).toMatchObject({ qr: null, problem: messageMatching(/expired. Start again/) })
    expect(states()).toEqual([])
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
  })

  it.each(['first', 'second'])('is finished after a crash between the phone and the %s login', async (time) => {
    const agent = await begin()
    if (time === 'second') {
      await link()
      rig.server.unlink()
      await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    }
    const connections = rig.server.connections()
    rig.server.faults.connect.push('none', 'stall')
    await rig.runner.client.ok('startPairing', { body: { agentId: agent.id } })
    await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
    rig.server.scan((await pairing()).qr!)
    await rig.server.until(() => rig.server.connections() === connections + 2)
    await rig.runner.restart({ crash: true })
    await expect.poll(async () => (await channelNow())?.status).toBe('open')
    expect((await channelNow()).people).toMatchObject([{ role: 'owner' }])
    expect(await pairing()).toMatchObject({ status: 'open' })
  })

  it('does not come back after it was deleted, although its keys were still there', async () => {
    await begin()
    const { id } = await link()
    const file = join(rig.runner.dataDir, 'whatsapp', id)
    const kept = readFileSync(file)
    const key = (await rig.runner.vault.get(`channel:${id}:token`))!
    await rig.runner.client.ok('deleteChannel', { params: { channelId: id } })
    await expect.poll(states).toEqual([])
    await expect.poll(() => rig.runner.vault.get(`channel:${id}:token`)).toBeNull()
    writeFileSync(file, kept)
    await rig.runner.vault.set(`channel:${id}:token`, key)
    await rig.runner.restart({ crash: true })
    await expect.poll(states).toEqual([])
    expect((await rig.runner.client.ok('listChannels', { query: {} })).channels).toEqual([])
  })

  it('is unavailable if the bridge is off', async () => {
    const agent = await begin({ config: { messengerBridge: false } })
    for (const answer of [
      await rig.runner.client.ask('getPairing', { query: { agentId: agent.id } }),
      await rig.runner.client.ask('startPairing', { body: { agentId: agent.id } }),
    ])
      expect(answer).toMatchObject({ status: 503, body: { error: 'messenger_manager_unavailable' } })
    expect(rig.server.connections()).toBe(0)
  })

  it('keeps its keys out of logs and database', async () => {
    await begin()
    const { id } = await link()
    const key = (await rig.runner.vault.get(`channel:${id}:token`))!
    const places = [rig.runner.logLines.join('\n'), readFileSync(join(rig.runner.dataDir, 'deckhand.db'), 'latin1')]
    for (const text of places) expect(text).not.toContain(key)
    const file = readFileSync(join(rig.runner.dataDir, 'whatsapp', id), 'latin1')
    for (const word of ['noiseKey', 'signedIdentityKey', 'creds', '15550001111']) expect(file).not.toContain(word)
  })
})
