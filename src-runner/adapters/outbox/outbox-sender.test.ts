import { quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { deleteChannel } from '../../domain/channels/channels.ts'
import { listOutbox, retryOutbound } from '../../domain/outbox/outbox.ts'
import { withdrawFrom } from '../../domain/outbox/write-message.ts'
import { failed, openOutboxRig, SENT, turn, type OutboxRig } from '../../testing/outbox-rig.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('the outbox sender', () => {
  let rig: OutboxRig
  let channel: string
  beforeEach(() => {
    rig = openOutboxRig()
    channel = rig.addChannel()
  })
  afterEach(async () => {
    await rig.sender.stop({ graceMs: 0 })
    rig.close()
  })

  const textsOf = () => rig.tries.map((one) => one.message.text)
  const pass = async (ms: number) => {
    rig.clock.advance(ms)
    await turn()
  }

  it('sends a message at once and records it as sent', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    const { message, answer } = await rig.nextTry()
    expect(message).toMatchObject({ id, channelId: channel, chatId: 'owner', text: 'hello', partsSent: 0 })
    answer(SENT)
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'sent', sentAt: rig.clock.now(), nextTryAt: null, tries: 0, problem: null })
  })

  it('tries three times, 30 seconds and 5 minutes apart, and then gives up with the reason', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed({ problem: quote('Bad gateway') }))
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 1, problem: quote('Bad gateway'), nextTryAt: rig.clock.now() + 30_000 })
    await pass(29_999)
    expect(rig.tries).toHaveLength(1)
    await pass(1)
    ;(await rig.nextTry()).answer(failed())
    await turn()
    await pass(5 * MINUTE - 1)
    expect(rig.tries).toHaveLength(2)
    await pass(1)
    ;(await rig.nextTry()).answer(failed({ problem: quote('Still a bad gateway') }))
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'undeliverable', tries: 3, problem: quote('Still a bad gateway'), nextTryAt: null })
    await pass(48 * HOUR)
    expect(rig.tries).toHaveLength(3)
  })

  it('gives up at once after a permanent failure', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed({ permanent: true, problem: quote('They blocked the account.') }))
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'undeliverable', problem: quote('They blocked the account.') })
  })

  it('pauses the whole channel for as long as the service asks, without counting a try', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    rig.write(channel, 'somebody else', 'hello too')
    for (let i = 0; i < 4; i++) {
      ;(await rig.nextTry()).answer(failed({ retryAfterMs: 90_000 }))
      await turn()
      expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 0 })
      await pass(89_999)
      expect(rig.tries).toHaveLength(i + 1)
      await pass(1)
    }
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'sent' })
  })

  it('waits an hour at most', async () => {
    rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed({ retryAfterMs: 30 * HOUR }))
    await turn()
    await pass(HOUR)
    expect(rig.tries).toHaveLength(2)
  })

  it('keeps the order within a chat, and sends to other chats meanwhile', async () => {
    rig.write(channel, 'a', 'a1')
    rig.write(channel, 'a', 'a2')
    rig.write(channel, 'b', 'b1')
    ;(await rig.nextTry()).answer(failed())
    await turn()
    expect(textsOf()).toEqual(['a1', 'b1'])
    ;(await rig.nextTry()).answer(SENT)
    await pass(30_000)
    expect(textsOf()).toEqual(['a1', 'b1', 'a1'])
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(textsOf()).toEqual(['a1', 'b1', 'a1', 'a2'])
  })

  it('sends over other channels while one hangs', async () => {
    const other = rig.addChannel()
    rig.write(channel, 'owner', 'slow')
    await rig.nextTry()
    const id = rig.write(other, 'owner', 'quick')
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('interrupts a try after five minutes and retries', async () => {
    rig.write(channel, 'owner', 'slow')
    const { signal } = await rig.nextTry()
    await pass(5 * MINUTE)
    expect(signal.aborted).toBe(true)
    await pass(30_000)
    expect(rig.tries).toHaveLength(2)
  })

  it('passes on how many parts were sent', async () => {
    rig.write(channel, 'owner', 'a long one')
    ;(await rig.nextTry()).answer(failed({ partsSent: 2 }))
    await turn()
    await pass(30_000)
    expect((await rig.nextTry()).message.partsSent).toBe(2)
  })

  it('continues after a crash with the next part', async () => {
    const id = rig.write(channel, 'owner', 'a long one')
    const { part } = await rig.nextTry()
    part(1)
    part(2)
    rig.crash()
    const { message, answer } = await rig.nextTry()
    expect(message.partsSent).toBe(2)
    answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('stops between two parts if the message is withdrawn', async () => {
    const id = rig.write(channel, 'owner', 'a long one')
    const { part, answer } = await rig.nextTry()
    expect(part(1)).toBe(true)
    const personId = rig.db.prepare<{ person_id: string }>('SELECT person_id FROM outbox WHERE id = ?').get(id)!.person_id
    transact(rig.db, (tx) => withdrawFrom(tx, personId, quote('They are refused by now.')))
    expect(part(2)).toBe(false)
    answer(failed({ partsSent: 2 }))
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'not_sent', problem: quote('They are refused by now.') })
    await pass(HOUR)
    expect(rig.tries).toHaveLength(1)
  })

  it('does not give up a message that makes progress between crashes', async () => {
    const id = rig.write(channel, 'owner', 'a very long one')
    for (let parts = 1; parts <= 6; parts++) {
      ;(await rig.nextTry()).part(parts)
      rig.crash()
    }
    const { message, answer } = await rig.nextTry()
    expect(message.partsSent).toBe(6)
    answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('continues if it cannot record a part', async () => {
    const id = rig.write(channel, 'owner', 'a long one')
    const { part, answer } = await rig.nextTry()
    rig.db.connection.pragma('query_only = on')
    expect(part(1)).toBe(true)
    rig.db.connection.pragma('query_only = off')
    answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it.each(['off', 'logged_out', 'connecting'] as const)('waits while a channel is %s', async (status) => {
    rig.setStatus(channel, status)
    const id = rig.write(channel, 'owner', 'hello')
    await pass(23 * HOUR)
    expect(rig.tries).toHaveLength(0)
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 0 })
    rig.setStatus(channel, 'open')
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('gives up a message after its channel was closed for a day', async () => {
    rig.setStatus(channel, 'logged_out')
    const id = rig.write(channel, 'owner', 'hello')
    await pass(24 * HOUR)
    expect(rig.read(id)).toMatchObject({
      state: 'undeliverable',
      tries: 0,
      problem: expect.objectContaining({ code: 'sent_not_for_a_day' }),
    })
  })

  it.each([
    ['before anybody has noticed', false],
    ['and it is noticed', true],
  ])('gives up and deletes nothing while the clock is two years ahead for an hour, %s', async (_when, notification) => {
    rig.setStatus(channel, 'logged_out')
    const id = rig.write(channel, 'owner', 'hello')
    const sent = rig.write(channel, 'owner', 'before')
    rig.db.prepare("UPDATE outbox SET state = 'sent', sent_at = created_at, next_try_at = NULL WHERE id = ?").run(sent)
    const YEARS = 2 * 365 * 24 * HOUR
    rig.setClock(YEARS, notification)
    await pass(HOUR)
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 0 })
    expect(rig.read(sent)).toMatchObject({ state: 'sent' })
    rig.setClock(-YEARS, notification)
    await pass(22 * HOUR)
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 0 })
    await pass(HOUR)
    expect(rig.read(id)).toMatchObject({ state: 'undeliverable' })
  })

  it('does not count tries while the channel is down', async () => {
    rig.setStatus(channel, 'failing')
    const id = rig.write(channel, 'owner', 'hello')
    for (let i = 0; i < 10; i++) {
      ;(await rig.nextTry()).answer(failed())
      await turn()
      await pass(MINUTE)
    }
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 0 })
    rig.setStatus(channel, 'open')
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('sends an interrupted message again after a crash', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    await rig.nextTry()
    rig.crash()
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id).state).toBe('sent')
  })

  it('gives up a message after three crashes', async () => {
    const id = rig.write(channel, 'owner', 'poison')
    const after = rig.write(channel, 'owner', 'after it')
    for (let i = 0; i < 3; i++) {
      await rig.nextTry()
      rig.crash()
    }
    expect((await rig.nextTry()).message.id).toBe(after)
    expect(rig.read(id)).toMatchObject({ state: 'undeliverable', problem: { code: 'sent_crashed', params: { times: 3 } } })
  })

  it('does not count stopping as a failure or a crash', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    for (let i = 0; i < 5; i++) {
      const { signal } = await rig.nextTry()
      await rig.sender.stop({ graceMs: 0 })
      expect(signal.aborted).toBe(true)
      rig.crash()
    }
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'sent' })
  })

  it('finishes tries in progress before it stops', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    const next = rig.write(channel, 'owner', 'not begun any more')
    const { answer, signal } = await rig.nextTry()
    const stopped = rig.sender.stop({ graceMs: 1000 })
    expect(signal.aborted).toBe(false)
    answer(SENT)
    await stopped
    expect([rig.read(id).state, rig.read(next).state]).toEqual(['sent', 'pending'])
    expect(rig.tries).toHaveLength(1)
  })

  it('records a result that arrives while it stops', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    const { answer } = await rig.nextTry()
    answer(SENT)
    await rig.sender.stop({ graceMs: 0 })
    expect(rig.read(id).state).toBe('sent')
  })

  it('sends once even if the result cannot be recorded at first', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    const { answer } = await rig.nextTry()
    const { connection } = rig.db
    const before = connection.pragma('max_page_count', { simple: true }) as number
    connection.pragma(`max_page_count = ${connection.pragma('page_count', { simple: true }) as number}`)
    // Larger than the rest of the row's page.
    answer({ state: 'sent', externalId: 'x'.repeat(20_000) })
    await turn()
    await pass(5 * MINUTE)
    expect(rig.read(id).state).toBe('pending')
    connection.pragma(`max_page_count = ${before}`)
    await pass(1000)
    expect(rig.read(id).state).toBe('sent')
    expect(rig.tries).toHaveLength(1)
  })

  it('starts no try that it cannot record', async () => {
    rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed())
    await turn()
    rig.db.connection.pragma('query_only = on')
    await pass(30_000)
    await pass(30_000)
    expect(rig.tries).toHaveLength(1)
    rig.db.connection.pragma('query_only = off')
    await pass(30_000)
    expect(rig.tries).toHaveLength(2)
  })

  it('gives up messages of a deleted channel', async () => {
    rig.setStatus(channel, 'off')
    const id = rig.write(channel, 'owner', 'hello')
    transact(rig.db, (tx) => deleteChannel(tx, channel))
    await turn()
    expect(rig.read(id)).toMatchObject({
      state: 'not_sent',
      channelId: null,
      problem: expect.objectContaining({ code: 'sent_channel_removed' }),
    })
  })

  it('retries on request with all tries', async () => {
    const id = rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed({ permanent: true }))
    await turn()
    transact(rig.db, (tx) => retryOutbound(tx, rig, id))
    ;(await rig.nextTry()).answer(failed())
    await turn()
    expect(rig.read(id)).toMatchObject({ state: 'pending', tries: 1 })
    await pass(30_000)
    ;(await rig.nextTry()).answer(SENT)
    await turn()
    expect(() => transact(rig.db, (tx) => retryOutbound(tx, rig, id))).toThrow('already sent')
  })

  it('sends after the clock was set back', async () => {
    rig.write(channel, 'owner', 'hello')
    ;(await rig.nextTry()).answer(failed())
    await turn()
    rig.db.prepare('UPDATE outbox SET next_try_at = next_try_at + ?').run(300 * HOUR)
    await pass(30_000)
    expect(rig.tries).toHaveLength(2)
  })

  it('deletes messages after ninety days, in small batches', async () => {
    rig.setStatus(channel, 'off')
    for (let i = 0; i < 600; i++) rig.write(channel, 'owner', `${i}`)
    rig.db.prepare("UPDATE outbox SET state = 'sent', sent_at = created_at, next_try_at = NULL").run()
    rig.clock.advance(90 * 24 * HOUR)
    const young = rig.write(channel, 'owner', 'young')
    const count = () => rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM outbox').get()!.n
    await pass(10 * MINUTE)
    expect(count()).toBe(101)
    await pass(10 * MINUTE)
    expect(listOutbox(rig.db, { limit: 5 }).messages.map(({ id }) => id)).toEqual([young])
  })
})
