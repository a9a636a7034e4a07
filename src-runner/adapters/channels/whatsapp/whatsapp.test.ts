import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { silenceConsole } from '../../../platform/log/create-log.ts'
import { englishText } from '../../../lib/messages.ts'
import { silentLog } from '../../../lib/log.ts'
import { describeChannelDriver, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { createHandClock, type HandClock } from '../../../testing/hand-clock.ts'
import { asShown, startPairedDevice } from '../../../testing/whatsapp-server/paired-device.ts'
import type { Connection, Incoming, IncomingMessage } from '../channel.ts'
import { joinMessages } from '../join-messages.ts'

/** build/test-long.mjs connects a thousand times. */
const RECONNECTS = Number(process.env['WHATSAPP_RECONNECTS'] ?? 15)
/** Five, and three restarts that the service asks for. */
const QUICK_TRIES = 8
const RETRY_PAUSES = new Set([750, 1500, 3000, 6000, 12_000, 67_500])

// The encryption prints keys.
beforeAll(() => silenceConsole(silentLog))

describeChannelDriver(
  'WhatsApp',
  async (clock) => {
    const { server, driver, access, person, close } = await startPairedDevice(clock)
    const onConnect: Record<ServiceFault, () => void> = {
      reset: () => server.faults.connect.push('reset'),
      garbage: () => server.faults.connect.push('garbage'),
      stall: () => server.faults.connect.push('stall'),
      error: () => server.faults.login.push(503),
      slow_down: () => server.faults.login.push(503),
    }
    return {
      driver,
      service: {
        access,
        accountName: server.account.number,
        chatId: person.jid,
        say: (text, options = {}) => void server.say(person, text, options),
        sayInGroup: (text) => void server.say(person, text, { group: '1203631@g.us' }),
        sendFile: (name, bytes) => void server.sendFile(person, { name, bytes }),
        press() {},
        sent: () => server.sent.map(({ text, file }) => ({ text: asShown(text), buttons: [], file })),
        untilSent: server.untilSent,
        notes: () => [],
        isTyping: () => server.presence.some(({ tag }) => tag === 'chatstate'),
        untilListening: server.untilConnected,
        untilAsked: (times) => server.until(() => server.connections() + server.attempts.length >= times),
        timesAsked: () => server.connections() + server.attempts.length,
        fault: (fault) => onConnect[fault](),
        faultOnSending: (fault) => server.faults.message.push(fault === 'stall' ? 'stall' : fault === 'garbage' ? 479 : 503),
        faultOnFile: (fault) => server.faults.upload.push(fault === 'garbage' || fault === 'reset' ? fault : 'error'),
        block: () => server.block(person),
        revokeToken: server.unlink,
        close,
      },
    }
  },
  { lacks: ['token', 'buttons', 'position', 'pause'] },
)

describe('WhatsApp itself', () => {
  let clock: HandClock
  let device: Awaited<ReturnType<typeof startPairedDevice>>
  let connection: Connection | null
  let heard: IncomingMessage[]
  let statuses: { status: string; problem: string }[]
  let trips: number
  let known: string[]
  let logged: string[]
  let onOther: (incoming: Incoming) => void
  /** Called before a message is stored. */
  let keep: (message: IncomingMessage) => Promise<void>
  const never = new AbortController().signal

  beforeEach(async () => {
    clock = createHandClock()
    heard = []
    statuses = []
    trips = 0
    connection = null
    keep = async () => {}
    known = []
    onOther = () => {}
    logged = []
    device = await startPairedDevice(clock, 'channel', { ...silentLog, warn: (_fields, text) => void logged.push(text) })
  })
  afterEach(async () => {
    await connection?.close()
    await device.close()
  })

  function connect(access = device.access): Connection {
    return (connection = device.driver.connect(access, null, {
      async incoming(incoming) {
        if (incoming.type !== 'message') return onOther(incoming)
        const message = joinMessages([incoming.message, ...(incoming.rest ?? [])])
        await keep(message)
        heard.push(message)
      },
      status: (status, problem) => statuses.push({ status, problem: problem === null ? '' : englishText(problem) }),
      roundTrip: () => trips++,
      knownChats: () => known,
      readFile: async () => ({ problem: 'it is not there' }),
    }))
  }
  const status = () => statuses.at(-1)?.status
  const texts = () => heard.map(({ text }) => text)
  const open = async () => {
    connect()
    await expect.poll(status).toBe('open')
  }
  const untilHeard = (count: number) => expect.poll(() => heard.length).toBe(count)
  const send = (text: string, id = `m-${text}`, chatId = device.person.jid) =>
    connection!.deliver({ id, channelId: 'channel', chatId, text, buttons: [], files: [], partsSent: 0 }, never, () => true)
  /** A new process has only what a kill leaves on disk. */
  const dieAndConnectAgain = async (left = readFileSync(device.file)) => {
    await connection!.close()
    writeFileSync(device.file, left)
    statuses = []
    await open()
  }

  describe('receiving', () => {
    test('confirms a message only when it is stored', async () => {
      await open()
      const stored = Promise.withResolvers<void>()
      keep = () => stored.promise
      device.server.say(device.person, 'one')
      await device.server.until(() => device.server.unconfirmed() === 1)
      const receipts = device.server.receipts.length
      await connection!.showTyping(device.person.jid)
      await device.server.until(() => device.server.presence.length > 0)
      expect(device.server.receipts).toHaveLength(receipts)
      stored.resolve()
      await device.server.until(() => device.server.unconfirmed() === 0)
      expect(texts()).toEqual(['one'])
    })

    test('reads a message again that a kill has kept from being stored', async () => {
      await open()
      const reached = Promise.withResolvers<void>()
      const killed = new Promise<void>(() => {})
      keep = () => {
        reached.resolve()
        return Promise.race([killed, new Promise<void>((_resolve, reject) => clock.after(1, () => reject(new Error('killed'))))])
      }
      device.server.say(device.person, 'one')
      device.server.say(device.person, 'two')
      await reached.promise
      copyFileSync(device.file, `${device.file}.copy`)
      const closing = connection!.close()
      clock.advance(1)
      await closing
      copyFileSync(`${device.file}.copy`, device.file)
      expect(heard).toEqual([])
      keep = async () => {}
      await open()
      await untilHeard(2)
      expect(texts()).toEqual(['one', 'two'])
      await device.server.until(() => device.server.unconfirmed() === 0)
    })

    test('has the same id for a message that is repeated, and confirms it again', async () => {
      await open()
      const id = device.server.say(device.person, 'one')
      await untilHeard(1)
      await device.server.until(() => device.server.unconfirmed() === 0)
      const receipts = device.server.receipts.length
      device.server.repeat(id)
      await device.server.until(() => device.server.receipts.length > receipts)
      device.server.say(device.person, 'two')
      await expect.poll(texts).toContain('two')
      expect(new Set(heard.map(({ externalId }) => externalId)).size).toBe(2)
    })

    test('reads what arrived while it was not connected, in order, with the time of sending', async () => {
      for (const text of ['one', 'two', 'three']) device.server.say(device.person, text, { sentAt: 1_700_000_000_000 })
      await open()
      await untilHeard(3)
      expect(texts()).toEqual(['one', 'two', 'three'])
      expect(heard[0]!.sentAt).toBe(1_700_000_000_000)
      await device.server.until(() => device.server.unconfirmed() === 0)
    })

    test('asks the sender for a message that it cannot read', async () => {
      await open()
      device.server.say(device.person, 'one')
      await untilHeard(1)
      device.server.say(device.person, 'two', { isDamaged: true })
      await untilHeard(2)
      expect(texts()).toEqual(['one', 'two'])
      expect(device.server.receipts.some(({ attrs }) => attrs['type'] === 'retry')).toBe(true)
    })

    describe('an album', () => {
      const announce = (count: number, options = {}) =>
        device.server.sayRaw(device.person, { albumMessage: { expectedImageCount: count } }, options)
      const picture = (album: string, name: string, more = {}) => {
        const file = { name, bytes: Buffer.from(name), as: 'image' as const, belongsTo: { id: album, as: 'MEDIA_ALBUM' as const } }
        return device.server.sendFile(device.person, { ...file, ...more })
      }
      const sizes = () => heard.map(({ files }) => files.length)
      /** What was sent before is with the device when somebody else is heard. */
      const untilWaiting = async () => {
        const before = heard.length
        device.server.say(device.server.addPerson('15550003333', 'Ben'), 'meanwhile')
        await untilHeard(before + 1)
        heard.pop()
      }

      test('is one message, without the same pictures in high quality', async () => {
        await open()
        const { server, person } = device
        const album = announce(2)
        const first = picture(album, 'a', { caption: 'The trip' })
        server.sendFile(person, {
          name: 'a',
          bytes: Buffer.from('A'),
          as: 'image',
          caption: 'The trip',
          belongsTo: { id: first, as: 'HD_IMAGE_DUAL_UPLOAD', isEnclosed: true },
        })
        picture(album, 'b', { belongsTo: { id: album, as: 'MEDIA_ALBUM', isEnclosed: true } })
        await untilHeard(1)
        await server.until(() => server.unconfirmed() === 0)
        expect(texts()).toEqual(['The trip'])
        expect(await Promise.all(heard[0]!.files.map((file) => file.download(never)))).toEqual(
          ['a', 'b'].map((name) => ({ bytes: new Uint8Array(Buffer.from(name)) })),
        )
      })

      test('waits for its pictures, but not for long, and nobody else waits', async () => {
        await open()
        const { server } = device
        const album = announce(3)
        picture(album, 'a')
        picture(album, 'b')
        await untilWaiting()
        await server.until(() => server.unconfirmed() === 2)
        clock.advance(9_000)
        await untilWaiting()
        clock.advance(1_000)
        await untilHeard(1)
        expect(sizes()).toEqual([2])
        await server.until(() => server.unconfirmed() === 0)
      })

      test('ends when its sender goes on', async () => {
        await open()
        const album = announce(3)
        picture(album, 'a')
        picture(album, 'b')
        device.server.say(device.person, '/stop')
        await untilHeard(2)
        expect(sizes()).toEqual([2, 0])
        expect(texts()[1]).toBe('/stop')
      })

      test('comes again as a whole after a kill', async () => {
        await open()
        const album = announce(3)
        picture(album, 'a')
        picture(album, 'b')
        await untilWaiting()
        await dieAndConnectAgain()
        picture(album, 'c')
        await untilWaiting()
        clock.advance(2_000)
        await untilHeard(1)
        expect(sizes()).toEqual([3])
        await device.server.until(() => device.server.unconfirmed() === 0)
      })

      test('is for the account in a group when one of its pictures mentions it', async () => {
        await open()
        const { server, person } = device
        const group = '1203631@g.us'
        const album = announce(2, { group })
        const belongsTo = { id: album, as: 'MEDIA_ALBUM' as const }
        const imageMessage = { caption: '@Anna look', contextInfo: { mentionedJid: [server.account.jid] } }
        const messageContextInfo = { messageAssociation: { associationType: 1, parentMessageKey: { id: album } } }
        server.sayRaw(person, { imageMessage, messageContextInfo }, { group })
        server.sendFile(person, { name: 'b', bytes: Buffer.from('b'), as: 'image', belongsTo }, { group })
        await untilHeard(1)
        expect(sizes()).toEqual([2])
      })
    })

    describe('with a sender who does not repeat a message that it cannot read', () => {
      let lost: string[]
      /** Everything up to the next ping has been handled. */
      const ping = async () => {
        const before = trips
        clock.advance(30_000)
        await expect.poll(() => trips).toBeGreaterThan(before)
      }
      beforeEach(() => {
        lost = []
        device.server.faults.ignoresRetries = true
        known = [device.person.jid]
        onOther = (incoming) => void (incoming.type === 'undecrypted' && lost.push(`${incoming.sender.chatId} ${incoming.externalId}`))
      })
      const sayDamaged = async () => {
        const id = device.server.say(device.person, 'lost', { isDamaged: true })
        await device.server.until(() => device.server.receipts.some(({ attrs }) => attrs['id'] === id && attrs['type'] === 'retry'))
        return id
      }
      const waitTenMinutes = async () => {
        for (let minutes = 0; minutes < 10; minutes += 0.5) await ping()
      }

      test('reports it after ten minutes, once, also after a kill', async () => {
        await open()
        const id = await sayDamaged()
        await waitTenMinutes()
        await expect.poll(() => lost.length).toBe(1)
        expect(lost[0]).toMatch(new RegExp(`^${device.person.jid} .* ${id}$`))
        await dieAndConnectAgain()
        await ping()
        await ping()
        expect(lost).toHaveLength(1)
      })

      test('reports it after a restart, and again if it could not be stored', async () => {
        await open()
        await sayDamaged()
        await dieAndConnectAgain()
        let isFull = true
        const report = onOther
        onOther = (incoming) => {
          if (isFull) throw new Error('the disk is full')
          report(incoming)
        }
        await waitTenMinutes()
        await ping()
        expect(lost).toEqual([])
        isFull = false
        await ping()
        await expect.poll(() => lost.length).toBe(1)
      })

      test('reports none that was repeated, and none of a stranger or in a group', async () => {
        await open()
        const id = await sayDamaged()
        device.server.faults.ignoresRetries = false
        device.server.say(device.person, 'next', { isDamaged: true })
        await expect.poll(texts).toEqual(['next'])
        device.server.faults.ignoresRetries = true
        device.server.repeat(id, { isRepaired: true })
        await expect.poll(texts).toEqual(['next', 'lost'])
        known = []
        await sayDamaged()
        known = ['1203631@g.us']
        const inGroup = device.server.say(device.person, 'lost', { isDamaged: true, group: '1203631@g.us' })
        await device.server.until(() => device.server.receipts.some(({ attrs }) => attrs['id'] === inGroup))
        await waitTenMinutes()
        await ping()
        expect(lost).toEqual([])
      })
    })

    test('reads neither what the person writes to others nor reactions, edits, deletions and votes', async () => {
      await open()
      const { server, person } = device
      server.sayOnPhone('secret', { to: person })
      server.sayRaw(person, { reactionMessage: { text: '👍', key: { id: 'x' } } })
      server.sayRaw(person, { protocolMessage: { type: 0, key: { id: 'x' } } })
      server.sayRaw(person, { protocolMessage: { type: 14, key: { id: 'x' }, editedMessage: { conversation: 'edited' } } })
      server.say(person, 'last')
      await untilHeard(1)
      expect(texts()).toEqual(['last'])
      await server.until(() => server.unconfirmed() === 0)
    })

    test('names what it cannot show, and writes contacts and places as text', async () => {
      await open()
      const { server, person } = device
      server.sayRaw(person, { pollCreationMessageV3: { name: 'Tea?', options: [] } })
      server.sayRaw(person, { stickerMessage: { mimetype: 'image/webp' } })
      const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nitem1.TEL;waid=49151:+49 151 1\nEND:VCARD'
      server.sayRaw(person, { contactMessage: { displayName: 'Ben', vcard } })
      server.sayRaw(person, { locationMessage: { degreesLatitude: 50.9, degreesLongitude: 6.9, name: 'Dom' } })
      await untilHeard(4)
      expect(heard.map(({ unreadable }) => unreadable)).toEqual(['poll', 'sticker', null, null])
      expect(heard.map(({ quotesOthers }) => quotesOthers)).toEqual([undefined, undefined, true, true])
      expect(texts().slice(2)).toEqual(['Contact: Ben, +49 151 1', 'Dom\nLocation: 50.9, 6.9'])
    })

    test('keeps voice notes and photos as files, and fetches no file that is too large, changed or elsewhere', async () => {
      await open()
      const { server, person } = device
      server.sendFile(person, { name: '', bytes: Buffer.from('voice'), as: 'audio' })
      server.sendFile(person, { name: 'huge.zip', bytes: Buffer.alloc(10), size: 100_000_000 })
      const lie = server.sendFile(person, { name: 'a.txt', bytes: Buffer.from('abc') })
      expect(lie).not.toBe('')
      server.sayRaw(person, { documentMessage: { fileName: 'b.txt', directPath: '//evil.example/x', mediaKey: Buffer.alloc(32) } })
      server.sayRaw(person, { documentMessage: { fileName: 'c.txt', directPath: '/mms/document/none', mediaKey: Buffer.alloc(32) } })
      server.sayRaw(person, { imageMessage: { mimetype: 'constructor' } })
      await untilHeard(6)
      const [voice, huge, , elsewhere, gone, photo] = heard.map(({ files }) => files[0]!)
      expect(heard.map(({ quotesOthers }) => quotesOthers)).toEqual([undefined, true, true, true, true, undefined])
      expect(voice!.name).toMatch(/^voice-.*\.ogg$/)
      expect(await voice!.download(never)).toEqual({ bytes: new Uint8Array(Buffer.from('voice')) })
      expect(await huge!.download(never)).toEqual({ problem: expect.stringContaining('larger than the 50 MB') as string })
      expect(await elsewhere!.download(never)).toEqual({ problem: 'the message does not say where it is' })
      expect(await gone!.download(never)).toEqual({ problem: 'the service no longer has it' })
      expect(photo!.name).toMatch(/^photo-\w+$/)
    })
  })

  describe('sending', () => {
    test('repeats a message with the same id, so that the person sees it once', async () => {
      await open()
      device.server.faults.message.push('lost_ack')
      expect(await send('Hello', 'm1')).toMatchObject({ state: 'failed', permanent: false, partsSent: 0 })
      clock.advance(await clock.untilSleeping((ms) => ms <= 10_000))
      await device.server.untilConnected()
      await expect.poll(async () => (await send('Hello', 'm1')).state).toBe('sent')
      expect(device.server.attempts.length).toBeGreaterThan(1)
      expect(device.server.sent.map(({ text }) => text)).toEqual(['Hello'])
    })

    test('is done when the service has accepted it, however late', async () => {
      await open()
      device.server.holdAcks()
      let isDone = false
      const sending = send('Hello').then((result) => {
        isDone = true
        return result
      })
      await device.server.untilSent(1)
      expect(isDone).toBe(false)
      device.server.releaseAcks()
      expect(await sending).toMatchObject({ state: 'sent' })
      device.server.holdAcks()
      const late = send('Again')
      await device.server.untilSent(2)
      clock.advance(30_000)
      expect(await late).toMatchObject({ state: 'failed', permanent: false })
    })

    // To a person the library begins a new session after each start. In a group it goes on with the key that the others have.
    test.each(['a person', 'a group'])('never uses a key twice with %s, also if it is killed while it sends', async (who) => {
      await open()
      const chatId = who === 'a group' ? '1203631@g.us' : device.person.jid
      const asSent = `${device.file}.sent`
      // A kill at the moment in which a message leaves finds what was stored before.
      const sendFrame = WebSocket.prototype.send
      const everyFrame = vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (this: WebSocket, ...frame) {
        copyFileSync(device.file, asSent)
        return sendFrame.apply(this, frame)
      })
      try {
        await send('message 0', 'm0', chatId)
        for (const i of [1, 2, 3]) {
          device.server.holdAcks()
          const sent = send(`message ${i}`, `m${i}`, chatId)
          await device.server.until(() => device.server.attempts.length > i)
          await dieAndConnectAgain(readFileSync(asSent))
          device.server.releaseAcks()
          expect(await sent).toMatchObject({ state: 'failed', permanent: false })
        }
      } finally {
        everyFrame.mockRestore()
      }
      await expect.poll(() => device.server.sent.map(({ text }) => text)).toEqual([0, 1, 2, 3].map((i) => `message ${i}`))
      // What is encrypted with a used key cannot be read, and is asked for again.
      expect(device.server.attempts).toHaveLength(4)
    })

    test.each(['somebody else', 'the owner'])('encrypts a message again for %s who cannot read it', async (who) => {
      await open()
      device.server.faults.badPreKeys = 2
      const chatId = who === 'the owner' ? device.server.account.jid : device.person.jid
      expect(await send('Hello', 'm1', chatId)).toMatchObject({ state: 'sent' })
      await device.server.untilSent(1)
      expect(device.server.sent.map(({ text }) => text)).toEqual(['Hello'])
      expect(device.server.attempts.length).toBeGreaterThan(1)
    })

    test('waits while it is not connected', async () => {
      device.server.faults.connect.push('stall')
      connect()
      await device.server.until(() => device.server.connections() > 0)
      expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: false })
    })

    test('pauses for a minute when there were too many messages', async () => {
      await open()
      device.server.faults.message.push(429)
      expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: false, retryAfterMs: 60_000 })
    })

    test('says that the account may not write to new people', async () => {
      await open()
      device.server.faults.message.push(463)
      expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: true, problem: { code: 'chat_wa_restricted' } })
    })
  })

  test('prints no keys, although the encryption does', async () => {
    const printed: string[] = []
    const collect = (fields: object, text: string) => void printed.push(`${JSON.stringify(fields)} ${text}`)
    silenceConsole({ error: collect, warn: collect, info: collect, debug: collect })
    try {
      await open()
      device.server.say(device.person, 'one')
      await untilHeard(1)
      device.server.say(device.person, 'two', { isDamaged: true })
      await untilHeard(2)
      expect(await send('three')).toMatchObject({ state: 'sent' })
      expect(printed.join('\n')).toMatch(/session/i)
      expect(printed.join('\n')).not.toMatch(/privKey|rootKey|chainKey|Buffer|ephemeral/)
    } finally {
      silenceConsole(silentLog)
    }
  })

  describe('the end of a connection', () => {
    test.each([
      [401, /removed from the linked devices.*Link it again/],
      [403, /blocked this account/],
      [405, /Update Deckhand/],
      [440, /Another program uses this link/],
    ])('with %i is a state of its own, and nothing is tried again', async (code, sentence) => {
      await open()
      device.server.streamError(code)
      await expect.poll(status).toBe('logged_out')
      expect(statuses.at(-1)!.problem).toMatch(sentence)
      const connections = device.server.connections()
      clock.advance(3_600_000)
      await connection!.close()
      expect(device.server.connections()).toBe(connections)
    })

    test('with 411 asks to link again', async () => {
      await open()
      device.server.downgrade()
      await expect.poll(status).toBe('logged_out')
      expect(statuses.at(-1)!.problem).toMatch(/Link it again/)
    })

    test('by an unlinking ends it, even if the keys cannot be deleted', async () => {
      await open()
      mkdirSync(`${device.file}.part`)
      device.server.streamError(401)
      await connection!.ended
      expect(status()).toBe('logged_out')
      expect(logged).toEqual(['could not delete the keys of an unlinked account'])
    })

    test.each([500, 503, 428])('with %i is tried again', async (code) => {
      await open()
      if (code === 428) device.server.cut()
      else device.server.streamError(code)
      await expect.poll(status).toBe('failing')
      clock.advance(await clock.untilSleeping((ms) => ms <= 10_000))
      await expect.poll(status).toBe('open')
    })

    test('with 515 connects again at once', async () => {
      await open()
      const connections = device.server.connections()
      device.server.streamError(515)
      await device.server.until(() => device.server.connections() > connections)
      await device.server.untilConnected()
      expect(statuses.map((one) => one.status)).not.toContain('failing')
    })

    test('is followed by one try a minute at most after five, also if each one succeeds for a moment', async () => {
      connect()
      for (let tries = 0; tries < 9; tries++) {
        await expect.poll(() => device.server.isConnected()).toBe(true)
        await expect.poll(() => statuses.filter((one) => one.status === 'open').length).toBe(tries + 1)
        device.server.cut()
        const pause = await clock.untilSleeping((ms) => ms < 30_000 || ms >= 60_000)
        if (tries >= 5) expect(pause).toBeGreaterThanOrEqual(60_000)
        else expect(pause).toBeLessThanOrEqual(16_000)
        clock.advance(pause)
      }
    })

    test(`is followed by one try a minute at most, however it fails ${RECONNECTS} times`, async () => {
      const { server } = device
      const triedAt: number[] = []
      const allTried = server.until(() => {
        while (triedAt.length < server.connections()) triedAt.push(clock.now())
        return triedAt.length >= RECONNECTS
      })
      for (let i = 0; i < RECONNECTS; i++) {
        const fault = (['reset', 'garbage', 503, 515, 500] as const)[i % 5]!
        if (typeof fault === 'number') {
          server.faults.connect.push('none')
          server.faults.login.push(fault)
        } else server.faults.connect.push(fault)
      }
      let isOver = false
      connect()
      const passing = (async () => {
        while (!isOver) clock.advance(await clock.untilSleeping((ms) => RETRY_PAUSES.has(ms)))
      })()
      await allTried
      const inFirstHour = triedAt.filter((at) => at < triedAt[0]! + 3_600_000).length
      expect(inFirstHour).toBeLessThanOrEqual(1 + QUICK_TRIES + 60)
      const quick = triedAt.filter((at, i) => i > 0 && at - triedAt[i - 1]! < 60_000)
      expect(quick.length).toBeLessThanOrEqual(QUICK_TRIES)
      // Nothing is left behind by a try.
      expect(clock.sleepers()).toBeLessThanOrEqual(3)
      isOver = true
      await expect.poll(status).toBe('open')
      void passing
    })

    test('is noticed when the service does not answer, at the latest with the next ping, and at once after sleep', async () => {
      await open()
      const before = trips
      clock.advance(30_000)
      await expect.poll(() => trips).toBeGreaterThan(before)
      device.server.faults.isDeaf = true
      connection!.woke!()
      await clock.untilSleeping((ms) => ms === 10_000)
      clock.advance(10_000)
      await expect.poll(status).toBe('failing')
      device.server.faults.isDeaf = false
      clock.advance(await clock.untilSleeping((ms) => ms <= 9000))
      await expect.poll(status).toBe('open')
    })
  })
})
