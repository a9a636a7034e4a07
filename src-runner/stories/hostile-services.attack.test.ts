import { proto } from '@whiskeysockets/baileys'
import { afterEach, describe, expect, it } from 'vitest'
import { readPosition } from '../adapters/channels/slack/position.ts'
import { channels } from '../domain/channels/channels-table.ts'
import { createSnowflakes } from '../testing/discord-server/snowflakes.ts'
import {
  ATTACKED,
  beginAttack,
  startDiscord,
  startSlack,
  startTelegram,
  startWhatsApp,
  type Attack,
  type AttackedService,
} from '../testing/attacked-channels.ts'

const DAY_MS = 86_400_000
const MEGABYTE = 'word '.repeat(200_000)
const deep = (levels: number): unknown => {
  let nested: unknown = 'x'
  for (let i = 0; i < levels; i++) nested = i % 2 === 0 ? [nested] : { a: nested }
  return nested
}
/** What a field may hold that is not what it should hold. */
const WRONG: unknown[] = [null, {}, [], { id: 1 }, [['x']], -1, 1.5, 1e300, '', true, 'x'.repeat(100_000), '\u0000\ud800', deep(2000)]

/** The model answers the newest question. */
function answerTo(request: unknown) {
  return { text: [`Answer ${[...JSON.stringify(request).matchAll(/Question (\d+)/g)].at(-1)?.[1] ?? 'to nothing'}.`] }
}

/** A valid object with one field after the other replaced by each wrong value, also inside of it, and left out. */
function variantsOf(valid: Record<string, unknown>): Record<string, unknown>[] {
  return Object.entries(valid).flatMap(([key, value]) => {
    const { [key]: _gone, ...rest } = valid
    const inner = typeof value === 'object' && value !== null && !Array.isArray(value) ? variantsOf(value as Record<string, unknown>) : []
    return [rest, ...WRONG.map((wrong) => ({ ...valid, [key]: wrong })), ...inner.map((variant) => ({ ...valid, [key]: variant }))]
  })
}

let attack: Attack | null = null
afterEach(async () => {
  await attack?.close()
  attack = null
})

async function begin<Service extends AttackedService>(service: Service) {
  const begun = await beginAttack(service, { modelServer: { fallback: answerTo } })
  attack = begun as unknown as Attack
  await begun.letIn('owner')
  let questions = 0
  return {
    ...begun,
    /** The channel still hears its owner. */
    async ask(): Promise<void> {
      service.say('owner', `Question ${++questions}`)
      await begun.untilSaid('owner', `Answer ${questions}.`)
    },
  }
}

describe('wrong types in what a service sends', () => {
  it('on Telegram lose no message after them', async () => {
    const { service, ask, errors, channelNow } = await begin(await startTelegram())
    const { server } = service
    const from = service.user('stranger')
    const message = {
      message_id: 900,
      date: 1,
      from,
      chat: { id: from.id, type: 'private' },
      text: 'Hi',
      caption: 'Hi',
      media_group_id: 'a',
      entities: [{ type: 'text_link', offset: 0, length: 2, url: 'https://example.com' }],
      reply_to_message: { message_id: 1 },
      forward_origin: { type: 'user', sender_user: from },
      via_bot: from,
      photo: [{ file_id: 'a', file_size: 1 }],
      document: { file_id: 'a', file_name: 'a', file_size: 1 },
      contact: { phone_number: '1', first_name: 'x' },
    }
    const press = { id: 'x', from, data: 'approve:x', message: { chat: message.chat } }
    for (const variant of variantsOf(message)) server.sendRaw({ message: variant })
    for (const variant of variantsOf(press)) server.sendRaw({ callback_query: variant })
    for (const wrong of WRONG) server.sendRaw({ message: wrong, callback_query: wrong, unknown_kind: wrong })
    await ask()
    expect((await channelNow()).status).toBe('open')
    expect(errors()).toEqual([])
  })

  it('on Discord lose no message after them', async () => {
    const { service, ask, errors, untilOpen } = await begin(await startDiscord())
    const { server } = service
    const author = service.user('stranger')
    const message = {
      id: createSnowflakes(Date.now).next(),
      channel_id: server.chatOf(author),
      author,
      content: 'Hi',
      type: 0,
      mentions: [author],
      attachments: [{ id: '1', filename: 'a', size: 1, url: 'x' }],
      sticker_items: [{ name: 'x' }],
      embeds: [],
      poll: {},
      message_reference: { type: 0, message_id: '1' },
      referenced_message: { author, content: 'x' },
      member: { nick: 'x' },
      message_snapshots: [{ message: { content: 'x' } }],
      guild_id: server.guild.id,
      webhook_id: null,
    }
    const { guild_id: _guild, ...direct } = message
    const interaction = {
      id: '900',
      token: 'x',
      type: 3,
      channel_id: server.chatOf(author),
      user: author,
      member: { user: author, nick: 'x' },
      data: { custom_id: 'approve:x', name: 'stop' },
    }
    for (const variant of [...variantsOf(message), ...variantsOf(direct)]) server.gateway.dispatch('MESSAGE_CREATE', variant)
    for (const variant of variantsOf(interaction)) server.gateway.dispatch('INTERACTION_CREATE', variant)
    for (const wrong of WRONG)
      for (const kind of ['MESSAGE_CREATE', 'INTERACTION_CREATE', 'UNKNOWN']) server.gateway.dispatch(kind, wrong as never)
    await ask()
    await untilOpen()
    expect(errors()).toEqual([])
  })

  it('on Slack lose no message after them', async () => {
    const { service, ask, errors, channelNow } = await begin(await startSlack())
    const { server } = service
    const { id: user } = service.user('stranger')
    const event = {
      type: 'message',
      channel: server.directOf(service.user('stranger')),
      channel_type: 'im',
      user,
      text: '<@U1|x> Hi',
      ts: '1700000000.000100',
      thread_ts: '1700000000.000100',
      files: [{ id: 'F1', name: 'x', size: 1, mode: 'hosted' }],
      subtype: 'file_share',
      attachments: [{ is_share: true, author_name: 'x', text: 'x' }],
    }
    for (const variant of variantsOf(event)) server.sendEvent(variant)
    for (const wrong of WRONG) {
      server.sendEvent(wrong as never)
      server.sendFrame(JSON.stringify(wrong))
      server.sendFrame(JSON.stringify({ type: 'interactive', envelope_id: 'a', payload: wrong }))
      server.sendFrame(JSON.stringify({ type: wrong, envelope_id: wrong, payload: wrong, reason: wrong }))
    }
    await ask()
    await server.untilIdle()
    expect((await channelNow()).status).toBe('open')
    expect(errors()).toEqual([])
  })

  it('on WhatsApp lose no message after them', async () => {
    const { service, ask, errors, untilOpen } = await begin(await startWhatsApp())
    const { server } = service
    const { jid: from } = service.user('stranger')
    const node = (tag: string, attrs: Record<string, string>, content: Uint8Array) => ({ tag, attrs, content })
    const nodes: [attrs: Record<string, string>, content?: ReturnType<typeof node>[]][] = [
      [{}],
      [{ from: 'x' }],
      [{ from: '@s.whatsapp.net', t: 'x' }],
      [{ from: 'a@lid', t: '9'.repeat(30), notify: 'x'.repeat(10_000) }],
      [{ from: service.groupId }],
      [{ from: service.groupId, participant: 'x' }],
      [{ from, recipient: from }],
      [{ from }, [node('verified_name', {}, Buffer.from([255, 255, 255]))]],
      [{ from }, [node('enc', { type: 'msg' }, Buffer.from('x')), node('enc', { type: 'pkmsg' }, Buffer.alloc(100))]],
      [{ from }, [node('enc', { type: 'unknown' }, Buffer.alloc(0))]],
    ]
    for (const [attrs, content] of nodes) {
      server.sendNode(attrs, content)
      await ask()
    }
    const contents: proto.IMessage[] = [{}, { extendedTextMessage: {} }, { contactMessage: {} }, { imageMessage: { fileLength: -1 } }]
    for (const message of contents) server.sayRaw(service.user('stranger'), message)
    server.sayRaw('phone', { conversation: MEGABYTE })
    await ask()
    await untilOpen()
    expect(errors()).toEqual([])
  })
})

describe('a service that', () => {
  it('is WhatsApp cannot write in the name of the owner, because nothing unencrypted counts', async () => {
    const { service, ask, jobs } = await begin(await startWhatsApp())
    const { jid } = service.server.account
    const forged = proto.Message.encode({ conversation: 'Forged' }).finish()
    service.server.sendNode({ from: jid, recipient: jid }, [{ tag: 'plaintext', attrs: {}, content: forged }])
    service.server.sendNode({ from: jid, recipient: jid }, [{ tag: 'enc', attrs: { type: 'plaintext' }, content: forged }])
    await ask()
    expect((await jobs()).map(({ title }) => title)).toEqual(['Question 1'])
  })

  it.each(['Telegram', 'Discord', 'Slack', 'WhatsApp'] as const)('is %s has a text of a megabyte cut', async (name) => {
    const { service, ask, jobs, taskOf } = await begin(await ATTACKED[name]())
    const server = service.server as never as { sayRaw?: Function }
    if (service.kind === 'messenger') server.sayRaw!('phone', { conversation: MEGABYTE })
    else service.say('owner', MEGABYTE)
    await ask()
    const long = (await jobs()).find(({ title }) => title.startsWith('word'))!
    expect((await taskOf(long.id)).task.length).toBeLessThanOrEqual(200_001)
  })

  it('is Telegram and says nothing about a file loses no message', async () => {
    const { service, runner, agent, ask, jobs, taskOf, errors } = await begin(await startTelegram())
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { folders: [runner.makeFolder()] } })
    for (const result of [null, 'x', [], { file_path: {} }, { file_path: '../x' }]) {
      service.server.fault('getFile', { kind: 'garbage', body: JSON.stringify({ ok: true, result }) })
      service.server.sendFile(service.user('owner'), { name: 'a.txt', bytes: Buffer.from('a'), caption: 'Read it' })
    }
    await ask()
    expect(errors()).toEqual([])
    const read = (await jobs()).filter(({ title }) => title.startsWith('Read it'))
    expect(read).toHaveLength(5)
    expect((await taskOf(read[0]!.id)).task).toContain('did not arrive')
  })

  it('is Telegram and numbers an update as it never would is heard after it', async () => {
    const { service, ask, untilOpen } = await begin(await startTelegram())
    for (const update_id of [2 ** 31, 1e15, 2 ** 53, -1]) {
      service.server.fault('getUpdates', { kind: 'garbage', body: JSON.stringify({ ok: true, result: [{ update_id }] }) })
      service.server.breakPoll()
      await ask()
    }
    await untilOpen()
  })

  it('is Discord and dates a message in the future is heard after it, also after a restart', async () => {
    const { service, runner, ask } = await begin(await startDiscord())
    const { server } = service
    for (const id of ['99999999999999999999', createSnowflakes(() => Date.now() + 30 * DAY_MS).next()]) {
      server.say(service.user('owner'), 'From tomorrow', { fields: { id } })
      await ask()
    }
    await runner.restart()
    await ask()
    await runner.runner.stop({ graceMs: 0 })
    service.say('owner', 'Question 50')
    await runner.restart()
    await attack!.untilSaid('owner', 'Answer 50.')
  })

  it('is Discord and has thousands of messages for others is heard after them', async () => {
    const { service, runner, ask, setRole } = await begin(await startDiscord())
    const { server } = service
    service.say('owner', 'Hello', { inGroup: true })
    await setRole(`room:${service.groupId}`, 'allowed')
    await ask()
    await runner.runner.stop({ graceMs: 0 })
    for (let i = 0; i < 2500; i++) server.say(service.user('guest'), `For others ${i}`, { channelId: server.roomId })
    service.say('owner', 'Question 50', { inGroup: true })
    await runner.restart()
    await service.until(() => server.sent.some(({ text }) => text === 'Answer 50.'))
    await ask()
  })

  it('is Discord and returns the same page of a history again and again is heard after it', async () => {
    const { service, runner, ask, untilOpen } = await begin(await startDiscord())
    const author = service.user('stranger')
    const page = Array.from({ length: 100 }, (_, i) => ({ id: String(i + 1), channel_id: '1', author, content: 'x', type: 7 }))
    service.server.fault(/^GET .*messages/, { kind: 'garbage', body: JSON.stringify(page) }, 100_000)
    await runner.restart()
    await untilOpen()
    await ask()
  })

  it('is Discord and has an account with a strange id is asked again', async () => {
    const { service, runner, ask, untilOpen } = await begin(await startDiscord())
    const { id } = service.server.bot
    service.server.bot.id = '(x+x+)+y)'
    const restarting = runner.restart()
    await service.until(() => service.server.gateway.identifies.length > 1)
    service.server.bot.id = id
    await restarting
    await ask()
    await untilOpen()
  })

  it('is Slack and has an account with a strange id is asked again', async () => {
    const { service, runner, ask, untilOpen } = await begin(await startSlack())
    const body = JSON.stringify({ ok: true, user_id: '(x+x+)+y)', team_id: 'T0TEAM00001' })
    service.server.fault('auth.test', { kind: 'garbage', body })
    await runner.restart()
    await ask()
    await untilOpen()
  })

  it('is Slack and dates messages in the future loses none that are written while it is off', async () => {
    const { service, runner, ask, untilOpen } = await begin(await startSlack())
    const { server } = service
    const { id: user } = service.user('owner')
    const channel = server.directOf(service.user('owner'))
    const event = { type: 'message', channel, channel_type: 'im', user, text: 'Hi' }
    for (const ts of ['999999999999.000000', '9999999999.000000', '9.000000']) server.sendEvent({ ...event, ts })
    await ask()
    await runner.runner.stop({ graceMs: 0 })
    service.server.forgetEvents()
    server.sayUnheard(service.user('owner'), 'Question 50')
    await runner.restart()
    await attack!.untilSaid('owner', 'Answer 50.')
    await untilOpen()
  })

  it('is Slack and names a strange chat leaves a position that can be read', async () => {
    const { service, runner, ask } = await begin(await startSlack())
    const { id: user } = service.user('owner')
    const event = { type: 'message', channel_type: 'im', user, text: 'Hi', ts: `${Math.floor(Date.now() / 1000)}.000000` }
    service.server.sendEvent({ ...event, channel: 'D1|x=,' })
    await ask()
    expect(readPosition(runner.write((tx) => tx.select().from(channels).get()!.position))).not.toBeNull()
  })
})
