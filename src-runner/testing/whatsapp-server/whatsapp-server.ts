import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  Curve,
  generateSignalPubKey,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidNormalizedUser,
  proto,
  type BinaryNode,
} from '@whiskeysockets/baileys'
import { WebSocketServer, type WebSocket } from 'ws'
import { openMedia, sealMedia } from '../../adapters/channels/whatsapp/media-cipher.ts'
import { createLinkCodePhone } from './link-code-phone.ts'
import { createNoiseResponder, serverIdentity } from './noise-responder.ts'
import { createSignalParty, type DeviceBundle, type SignalParty } from './signal-party.ts'

/** Somebody with an account, as other people address them. */
export type ServedPerson = { jid: string; name: string }

/** A message of the linked device, as the person in the chat sees it. A phone shows a repeated id once. */
export type ServedSent = {
  id: string
  /** The chat in which it appears. */
  chat: string
  text: string
  /** The id of the message that it replies to. */
  replyTo: string | null
  file: { name: string; bytes: Uint8Array } | null
}

export type SayOptions = {
  /** The id of the message that this one replies to. */
  replyTo?: string
  isForwarded?: boolean
  /** In ms. */
  sentAt?: number
  /** The group in which it is said. */
  group?: string
  /** Mentions the linked account. */
  isMention?: boolean
  /** Cannot be read at first: the device has to ask for it again. */
  isDamaged?: boolean
}

export type WhatsAppServer = ReturnType<typeof createServed>

type Stored = { id: string; from: SignalParty; message: proto.IMessage; attrs: Record<string, string>; content: BinaryNode[] }
type SeenMessage = Pick<ServedSent, 'id' | 'chat'>

const S = 's.whatsapp.net'
const OWN = { jid: '15550001111@s.whatsapp.net', lid: '100200300@lid', device: 7 }
const QR_CODES = 6
const LABELS = ['image', 'video', 'audio', 'document'] as const

/**
 * A local WhatsApp: a real client pairs with it by QR code or by pairing code, and exchanges end-to-end encrypted messages with
 * the people of the test. Like the real one, it asks for a restart after pairing, keeps messages until the device has confirmed
 * them, repeats unconfirmed ones at the next login, and sends a message again when the device could not read it. `linked`: a device that is
 * linked to the account from the beginning.
 */
export async function startWhatsAppServer(linked: DeviceBundle | null = null): Promise<WhatsAppServer> {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return createServed(http, (http.address() as AddressInfo).port, linked)
}

// oxlint-disable-next-line max-lines-per-function -- one server, whose parts share its state
function createServed(http: ReturnType<typeof createServer>, port: number, linked: DeviceBundle | null) {
  const identity = serverIdentity()
  const account = Curve.generateKeyPair()
  const sockets = new WebSocketServer({ server: http, path: '/ws/chat' })
  const parties = new Map<string, SignalParty>()
  const names = new Map<string, string>()
  const media = new Map<string, Buffer>()
  const watchers = new Set<() => void>()
  const ownJid = OWN.jid.replace('@', `:${OWN.device}@`)
  const ownLid = OWN.lid.replace('@', `:${OWN.device}@`)

  let bundle = linked === null ? null : { ...linked, preKeys: [...linked.preKeys] }
  let isLinked = linked !== null
  let current: Connection | null = null
  let phoneOfCode: ReturnType<typeof createLinkCodePhone> | null = null
  /** Not confirmed by the device. */
  let unconfirmed: Stored[] = []
  const groupReaders = new Map<string, SignalParty>()
  const everSaid = new Map<string, Stored>()
  const sent: ServedSent[] = []
  const attempts: SeenMessage[] = []
  const receipts: BinaryNode[] = []
  const pings = { count: 0 }
  const presence: BinaryNode[] = []
  const blocked = new Set<string>()
  let connections = 0
  let heldAcks: (() => void)[] | null = null
  const faults = {
    /** What happens to the next connections, in their order. */
    connect: [] as ('none' | 'reset' | 'garbage' | 'stall')[],
    /** The next logins fail with these reasons. */
    login: [] as number[],
    /** What happens to the next messages of the device, instead of an acknowledgement. */
    message: [] as ('reset' | 'stall' | 'lost_ack' | number)[],
    upload: [] as ('reset' | 'error' | 'garbage')[],
    badPreKeys: 0,
    /** Phones do not repeat what the device could not read. */
    ignoresRetries: false,
    isDeaf: false,
  }

  type Connection = { socket: WebSocket; send(node: BinaryNode): void; isLoggedIn: boolean }
  const look = () => [...watchers].forEach((watcher) => watcher())
  const address = (jid: string) => jidNormalizedUser(jid)
  const now = () => String(Math.floor(Date.now() / 1000))

  function addParty(jid: string, lid: string, name: string): SignalParty {
    const party = createSignalParty(jid, lid)
    for (const known of [jid, lid]) parties.set(known, party)
    names.set(jid, name)
    return party
  }
  const phone = addParty(OWN.jid, OWN.lid, 'Anna')

  sockets.on('connection', (socket) => {
    connections++
    look()
    const fault = faults.connect.shift()
    if (fault === 'reset') return socket.terminate()
    if (fault === 'garbage') return socket.on('message', () => socket.send(Buffer.concat([Buffer.from([0, 1, 0]), randomBytes(256)])))
    if (fault === 'stall') return
    const noise = createNoiseResponder(identity, (bytes) => socket.readyState === socket.OPEN && socket.send(bytes))
    const connection: Connection = { socket, send: noise.send, isLoggedIn: false }
    let reading = Promise.resolve()
    socket.on('message', (data: Buffer) => {
      const onLogin = (payload: proto.ClientPayload) => login(connection, payload)
      reading = reading.then(() => noise.read(data, onLogin, (node) => take(connection, node))).catch(() => socket.terminate())
    })
    socket.on('close', () => {
      if (current === connection) current = null
      look()
    })
  })

  function login(connection: Connection, payload: proto.ClientPayload): void {
    current = connection
    const { devicePairingData: data } = payload
    if (data) {
      bundle = {
        registrationId: numberOf(data.eRegid!),
        identityKey: data.eIdent!,
        signedPreKey: { keyId: numberOf(data.eSkeyId!), publicKey: data.eSkeyVal!, signature: data.eSkeySig! },
        preKeys: [],
      }
      const ref = (): BinaryNode => ({ tag: 'ref', attrs: {}, content: Buffer.from(`2@${randomBytes(24).toString('base64url')}`) })
      return askDevice('pair-device', Array.from({ length: QR_CODES }, ref))
    }
    const reason = faults.login.shift() ?? (isLinked ? null : 401)
    if (reason !== null) return connection.send({ tag: 'failure', attrs: { reason: String(reason), location: 'test' } })
    connection.isLoggedIn = true
    connection.send({ tag: 'success', attrs: { t: now(), lid: ownLid } })
    const waiting = [...unconfirmed]
    for (const stored of waiting) push(stored, true)
    connection.send({ tag: 'ib', attrs: { from: S }, content: [{ tag: 'offline', attrs: { count: String(waiting.length) } }] })
    look()
  }

  function askDevice(tag: string, content: BinaryNode[]): void {
    const id = randomBytes(8).toString('hex')
    current!.send({ tag: 'iq', attrs: { from: S, type: 'set', id, xmlns: 'md' }, content: [{ tag, attrs: {}, content }] })
  }

  /** The person has confirmed the new device on their phone. */
  function link(advSecret: Buffer): void {
    const encode = proto.ADVSignedDeviceIdentity.encode.bind(proto.ADVSignedDeviceIdentity)
    const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: Number(now()), keyIndex: 1 }).finish()
    const signature = Curve.sign(account.private, Buffer.concat([Buffer.from([6, 0]), details, bundle!.identityKey]))
    const signed = encode({ details, accountSignatureKey: account.public, accountSignature: signature }).finish()
    const hmac = createHmac('sha256', advSecret).update(signed).digest()
    askDevice('pair-success', [
      { tag: 'device-identity', attrs: {}, content: proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish() },
      { tag: 'device', attrs: { jid: ownJid, lid: ownLid } },
      { tag: 'platform', attrs: { name: 'android' } },
    ])
  }

  async function take(connection: Connection, node: BinaryNode): Promise<void> {
    if (faults.isDeaf) return
    if (node.tag === 'iq' && getBinaryNodeChild(node, 'pair-device-sign')) {
      isLinked = true
      look()
      return connection.send({ tag: 'stream:error', attrs: { code: '515' } })
    }
    if (node.tag === 'message') return takeMessage(connection, node)
    if (node.tag === 'receipt' || (node.tag === 'ack' && node.attrs['class'] === 'message')) return takeReceipt(connection, node)
    if (node.tag === 'chatstate' || node.tag === 'presence') presence.push(node)
    if (node.tag === 'iq' && node.attrs['type'] !== 'result') answer(connection, node)
    look()
  }

  function answer(connection: Connection, node: BinaryNode): void {
    const { id, to, xmlns } = node.attrs
    const reply = (content: BinaryNode[] = []) => connection.send({ tag: 'iq', attrs: { from: to ?? S, type: 'result', id: id! }, content })
    const first = Array.isArray(node.content) ? node.content[0] : undefined
    switch (`${xmlns} ${first?.tag}`) {
      case 'w:p ping':
        pings.count++
        return reply()
      // With none, the device would make 812 at once.
      case 'encrypt count':
        return reply([{ tag: 'count', attrs: { value: String(Math.max(bundle?.preKeys.length ?? 0, 1)) } }])
      case 'encrypt digest':
        return reply([{ tag: 'digest', attrs: {} }])
      case 'encrypt registration':
        bundle!.preKeys.push(...preKeysIn(getBinaryNodeChild(node, 'list')))
        return reply()
      case 'encrypt key':
        return reply([{ tag: 'list', attrs: {}, content: childrenOf(first).flatMap((user) => bundleFor(user.attrs['jid']!)) }])
      case 'usync usync':
        return reply([usyncResult(first!)])
      case 'w:m media_conn': {
        const hosts = [{ tag: 'host', attrs: { hostname: `127.0.0.1:${port}` } }]
        return reply([{ tag: 'media_conn', attrs: { auth: 'test', ttl: '300' }, content: hosts }])
      }
      case 'w:g2 query':
        return reply([groupNode(to!)])
      case 'md remove-companion-device':
        isLinked = false
        return reply()
      case 'md link_code_companion_reg': {
        const made = phoneOfCode!.take(first!)
        reply(made.reply)
        if (made.advSecret !== null) link(made.advSecret)
        return
      }
      default:
        return reply()
    }
  }

  function bundleFor(jid: string): BinaryNode[] {
    const party = parties.get(address(jid))
    if (party === undefined || blocked.has(party.jid)) return []
    return [party.bundle(jid, faults.badPreKeys > 0 && faults.badPreKeys-- > 0)]
  }

  function usyncResult(query: BinaryNode): BinaryNode {
    const asked = childrenOf(getBinaryNodeChild(query, 'query')).map(({ tag }) => tag)
    const users = getBinaryNodeChildren(getBinaryNodeChild(query, 'list'), 'user').flatMap(({ attrs }): BinaryNode[] => {
      const party = parties.get(address(attrs['jid'] ?? ''))
      if (party === undefined) return []
      const devices = { tag: 'device-list', attrs: {}, content: [{ tag: 'device', attrs: { id: '0' } }] }
      const found: BinaryNode[] = []
      if (asked.includes('devices')) found.push({ tag: 'devices', attrs: {}, content: [devices] })
      if (asked.includes('lid')) found.push({ tag: 'lid', attrs: { val: party.lid } })
      return [{ tag: 'user', attrs: { jid: attrs['jid']! }, content: found }]
    })
    return { tag: 'usync', attrs: { sid: query.attrs['sid']! }, content: [{ tag: 'list', attrs: {}, content: users }] }
  }

  function groupNode(jid: string): BinaryNode {
    const people = [...new Set(parties.values())].map((party) => ({ tag: 'participant', attrs: { jid: party.jid } }))
    const attrs = { id: jid.split('@')[0]!, subject: 'Family', s_t: '1', creation: '1', addressing_mode: 'pn' }
    return { tag: 'group', attrs, content: people }
  }

  async function takeMessage(connection: Connection, node: BinaryNode): Promise<void> {
    const { id, to } = node.attrs as { id: string; to: string }
    const chat = address(to)
    attempts.push({ id, chat })
    look()
    const fault = faults.message.shift()
    if (fault === 'reset') return connection.socket.terminate()
    if (fault === 'stall') return
    const isGroup = to.endsWith('@g.us')
    const recipient = isGroup ? null : parties.get(chat)
    const acknowledge = (error?: number) => {
      const attrs = { class: 'message', id, from: to, t: now(), ...(error === undefined ? {} : { error: String(error) }) }
      connection.send({ tag: 'ack', attrs })
    }
    if (typeof fault === 'number') return acknowledge(fault)
    if (recipient === undefined || (recipient !== null && blocked.has(recipient.jid))) return acknowledge(404)
    const message = await (isGroup ? readInGroup(to, node) : readFor(recipient!, node)).catch(() => 'unreadable' as const)
    if (message === 'unreadable') {
      acknowledge()
      return askAgain(connection, recipient!, id)
    }
    const shownIn = recipient?.jid ?? to
    if (message !== null && !sent.some((earlier) => earlier.id === id && earlier.chat === shownIn)) {
      sent.push({ id, chat: shownIn, ...shownOf(message) })
    }
    look()
    if (fault === 'lost_ack') return connection.socket.terminate()
    if (heldAcks === null) acknowledge()
    else heldAcks.push(acknowledge)
  }

  /** A phone cannot read a message, and asks the device to encrypt it again. */
  function askAgain(connection: Connection, { jid }: SignalParty, id: string): void {
    const retry = { tag: 'retry', attrs: { count: '1', id, t: now(), v: '1' } }
    // In the person's own chat, the service says which chat it is.
    const own: Record<string, string> = jid === OWN.jid ? { recipient: jid } : {}
    const registration = { tag: 'registration', attrs: {}, content: Buffer.from([0, 0, 0, 1]) }
    connection.send({ tag: 'receipt', attrs: { from: jid, ...own, id, type: 'retry', t: now() }, content: [retry, registration] })
  }

  /** Read by one of those who have the key that the device gave out for this group. */
  async function readInGroup(group: string, node: BinaryNode): Promise<proto.IMessage> {
    for (const { attrs, content } of getBinaryNodeChildren(getBinaryNodeChild(node, 'participants'), 'to')) {
      const party = parties.get(address(attrs['jid']!))!
      await party.takeGroupKey(ownJid, (content as BinaryNode[])[0]!)
      groupReaders.set(group, party)
    }
    return groupReaders.get(group)!.decryptFromGroup(group, ownJid, getBinaryNodeChild(node, 'enc')!)
  }

  async function readFor(party: SignalParty, node: BinaryNode): Promise<proto.IMessage | null> {
    const targets = getBinaryNodeChildren(getBinaryNodeChild(node, 'participants'), 'to')
    const own = targets.find((target) => parties.get(address(target.attrs['jid']!)) === party)
    const sealed = own === undefined ? getBinaryNodeChild(node, 'enc') : getBinaryNodeChild(own, 'enc')
    if (sealed === undefined) return null
    const message = await party.decrypt(ownJid, sealed)
    return message.deviceSentMessage?.message ?? message
  }

  function shownOf(message: proto.IMessage): Omit<ServedSent, 'id' | 'chat'> {
    const { documentMessage: document, extendedTextMessage: extended, conversation } = message
    const replyTo = extended?.contextInfo?.stanzaId ?? null
    if (!document) return { text: extended?.text ?? conversation ?? '', replyTo, file: null }
    const bytes = openMedia(media.get(document.directPath!.split('?')[0]!)!, 'document', document)
    return { text: '', replyTo, file: { name: document.fileName!, bytes } }
  }

  async function takeReceipt(connection: Connection, node: BinaryNode): Promise<void> {
    receipts.push(node)
    if (node.tag === 'receipt') connection.send({ tag: 'ack', attrs: { class: 'receipt', id: node.attrs['id']!, from: S } })
    const { id, type } = node.attrs
    const stored = everSaid.get(id!)
    if (node.tag === 'receipt' && type === 'retry' && stored !== undefined) {
      if (faults.ignoresRetries) {
        unconfirmed = unconfirmed.filter((one) => one.id !== id)
        return look()
      }
      const keys = getBinaryNodeChild(node, 'keys')
      if (keys !== undefined) bundle!.preKeys.unshift(...preKeysIn(keys))
      stored.content = [await stored.from.encrypt(ownJid, bundle!, stored.message, { fresh: true })]
      return push(stored, false)
    }
    if (type !== 'retry' && !(node.tag === 'ack' && node.attrs['error'] === '500')) unconfirmed = unconfirmed.filter((one) => one.id !== id)
    look()
  }

  function push({ id, attrs, content }: Stored, isOffline: boolean): void {
    if (current?.isLoggedIn === true) {
      current.send({ tag: 'message', attrs: { id, ...attrs, ...(isOffline ? { offline: '0' } : {}) }, content })
    }
  }

  let sending = Promise.resolve()
  /** Returns the id. The message is encrypted and sent after those that were said before. */
  function say(person: string, message: proto.IMessage, options: SayOptions & { to?: string; kind?: string } = {}): string {
    const id = randomBytes(8).toString('hex').toUpperCase()
    const party = parties.get(person)!
    const { group, sentAt, isDamaged, to } = options
    const t = sentAt === undefined ? now() : String(Math.floor(sentAt / 1000))
    sending = sending.then(async () => {
      const from: Record<string, string> = group === undefined ? { from: party.jid } : { from: group, participant: party.jid }
      const isOwn = party === phone
      const attrs: Record<string, string> = {
        ...from,
        t,
        type: options.kind ?? 'text',
        notify: names.get(party.jid)!,
        ...(isOwn ? { recipient: to ?? OWN.jid } : {}),
      }
      const whole = isOwn ? { deviceSentMessage: { destinationJid: to ?? OWN.jid, message } } : message
      const content =
        group === undefined ? [await party.encrypt(ownJid, bundle!, whole)] : await party.encryptForGroup(group, ownJid, bundle!, whole)
      if (isDamaged === true)
        content[0]!.content = Buffer.from(content[0]!.content as Uint8Array).map((byte, i, all) => (i < all.length - 8 ? byte : 0))
      const stored = { id, from: party, message: whole, attrs, content }
      everSaid.set(id, stored)
      unconfirmed.push(stored)
      push(stored, false)
      look()
    })
    return id
  }

  function contextOf({ replyTo, isForwarded, isMention }: SayOptions): proto.IContextInfo | null {
    if (replyTo === undefined && isForwarded !== true && isMention !== true) return null
    return {
      ...(replyTo === undefined ? {} : { stanzaId: replyTo, participant: OWN.jid, quotedMessage: { conversation: 'quoted' } }),
      ...(isForwarded === true ? { isForwarded: true, forwardingScore: 1 } : {}),
      ...(isMention === true ? { mentionedJid: [OWN.jid] } : {}),
    }
  }

  async function serveMedia(path: string, body: Buffer, isUpload: boolean): Promise<{ status: number; body: string | Buffer }> {
    if (!isUpload) return media.has(path) ? { status: 200, body: media.get(path)! } : { status: 404, body: 'gone' }
    const fault = faults.upload.shift()
    if (fault === 'garbage') return { status: 200, body: '<html>' }
    if (fault === 'error') return { status: 503, body: 'busy' }
    media.set(path, body)
    return { status: 200, body: JSON.stringify({ url: `http://127.0.0.1:${port}${path}`, direct_path: path }) }
  }

  http.on('request', (request, response) => {
    void buffer(request).then(async (body) => {
      if (request.method === 'POST' && faults.upload[0] === 'reset') {
        faults.upload.shift()
        return request.socket.destroy()
      }
      const served = await serveMedia(request.url!.split('?')[0]!, body, request.method === 'POST')
      response.writeHead(served.status).end(served.body)
      look()
    })
  })

  const server = {
    url: `ws://127.0.0.1:${port}/ws/chat`,
    /** The client has to trust this key. */
    rootKey: identity.rootKey,
    account: { jid: OWN.jid, lid: OWN.lid, number: `+${OWN.jid.split('@')[0]}` },
    sent,
    /** Every message that the device tried to send, with repetitions. */
    attempts,
    receipts,
    presence,
    faults,
    isLinked: () => isLinked,
    /** What the linked device has published. */
    device: () => bundle!,
    isConnected: () => current?.isLoggedIn === true,
    /** How often a device has connected. */
    connections: () => connections,
    pings: () => pings.count,
    /** Messages that the device has not confirmed. */
    unconfirmed: () => unconfirmed.length,

    addPerson(number: string, name: string): ServedPerson {
      const jid = `${number}@${S}`
      addParty(jid, `9${number}@lid`, name)
      return { jid, name }
    },
    /** What the phone does when its owner scans the code. */
    scan(qr: string): void {
      link(Buffer.from(qr.split('#').at(-1)!.split(',')[3]!, 'base64'))
    },
    /** What the phone does when its owner types the code. */
    typeCode(code: string): Promise<void> {
      return phoneOfCode!.typeCode(code.replace(/\W/g, ''), (node) => current!.send(node))
    },
    /** The owner removes the device on the phone. */
    unlink(): void {
      isLinked = false
      server.streamError(401, { tag: 'conflict', attrs: { type: 'device_removed' } })
    },
    streamError(code: number, content?: BinaryNode): void {
      current?.send({ tag: 'stream:error', attrs: { code: String(code) }, ...(content === undefined ? {} : { content: [content] }) })
    },
    /** The server does not know this kind of device. */
    downgrade(): void {
      current?.send({ tag: 'ib', attrs: { from: S }, content: [{ tag: 'downgrade_webclient', attrs: {} }] })
    },
    cut(): void {
      for (const socket of sockets.clients) socket.terminate()
    },
    block(person: ServedPerson): void {
      blocked.add(person.jid)
    },
    rename(person: ServedPerson, name: string): void {
      names.set(person.jid, name)
    },
    /** A message in any form. Like every message, it comes again until it is confirmed. */
    sendNode(attrs: Record<string, string>, content: BinaryNode[] = []): string {
      const id = randomBytes(8).toString('hex').toUpperCase()
      const stored = { id, from: phone, message: {}, attrs: { t: now(), type: 'text', ...attrs }, content }
      sending = sending.then(() => {
        unconfirmed.push(stored)
        push(stored, false)
      })
      return id
    },
    holdAcks(): void {
      heldAcks = []
    },
    releaseAcks(): void {
      const held = heldAcks ?? []
      heldAcks = null
      for (const acknowledge of held) acknowledge()
    },
    /** Repeats a message, as the service does when it does not know whether it arrived. */
    repeat(id: string, { isRepaired = false } = {}): void {
      const stored = everSaid.get(id)!
      sending = sending.then(async () => {
        if (isRepaired) stored.content = [await stored.from.encrypt(ownJid, bundle!, stored.message, { fresh: true })]
        push(stored, true)
      })
    },

    say(person: ServedPerson, text: string, options: SayOptions = {}): string {
      const contextInfo = contextOf(options)
      return say(person.jid, contextInfo === null ? { conversation: text } : { extendedTextMessage: { text, contextInfo } }, options)
    },
    /** The owner writes to themselves, or to somebody else, on their phone. */
    sayOnPhone(text: string, { to, ...options }: SayOptions & { to?: ServedPerson } = {}): string {
      const contextInfo = contextOf(options)
      const message = contextInfo === null ? { conversation: text } : { extendedTextMessage: { text, contextInfo } }
      return say(OWN.jid, message, { ...options, ...(to === undefined ? {} : { to: to.jid }) })
    },
    /** A message of any kind. */
    sayRaw(person: ServedPerson | 'phone', message: proto.IMessage, options: SayOptions = {}): string {
      return say(person === 'phone' ? OWN.jid : person.jid, message, options)
    },
    sendFile(
      person: ServedPerson | 'phone',
      {
        name,
        bytes,
        as = 'document',
        caption,
        size,
        belongsTo,
      }: {
        name: string
        bytes: Uint8Array
        as?: (typeof LABELS)[number]
        caption?: string
        size?: number
        /** How it belongs to another message. Phones send it in either form. */
        belongsTo?: { id: string; as: keyof typeof proto.MessageAssociation.AssociationType; isEnclosed?: boolean }
      },
      options: SayOptions = {},
    ): string {
      const sealed = sealMedia(bytes, as)
      const path = `/mms/${as}/${createHash('sha256').update(sealed.body).digest('base64url')}`
      media.set(path, sealed.body)
      const { body: _body, ...keys } = sealed
      const file = {
        ...keys,
        directPath: path,
        url: `http://127.0.0.1:${port}${path}`,
        fileLength: size ?? bytes.length,
        fileName: name,
        mimetype: as === 'audio' ? 'audio/ogg; codecs=opus' : 'application/octet-stream',
        ptt: as === 'audio',
        caption,
      }
      const message = { [`${as}Message`]: file }
      if (belongsTo === undefined) return server.sayRaw(person, message, options)
      const associationType = proto.MessageAssociation.AssociationType[belongsTo.as]
      const messageContextInfo = { messageAssociation: { associationType, parentMessageKey: { id: belongsTo.id } } }
      const whole = { ...message, messageContextInfo }
      return server.sayRaw(person, belongsTo.isEnclosed === true ? { associatedChildMessage: { message: whole } } : whole, options)
    },

    /** Resolves when this is true. Checked after every change. */
    until: (isTrue: () => boolean) =>
      new Promise<void>((resolve) => {
        const watcher = () => {
          if (!isTrue()) return
          watchers.delete(watcher)
          resolve()
        }
        watchers.add(watcher)
        watcher()
      }),
    untilSent: (count: number) => server.until(() => sent.length >= count),
    untilConnected: () => server.until(() => current?.isLoggedIn === true && pings.count >= 0),
    async close(): Promise<void> {
      for (const socket of sockets.clients) socket.terminate()
      http.closeAllConnections()
      await new Promise((resolve) => sockets.close(resolve))
      await new Promise((resolve) => http.close(resolve))
    },
  }
  phoneOfCode = createLinkCodePhone()
  return server
}

function preKeysIn(list: BinaryNode | undefined): DeviceBundle['preKeys'] {
  return getBinaryNodeChildren(list, 'key').map((key) => ({
    keyId: numberOf(getBinaryNodeChild(key, 'id')!.content as Uint8Array),
    publicKey: generateSignalPubKey(getBinaryNodeChild(key, 'value')!.content as Uint8Array),
  }))
}

function childrenOf(node: BinaryNode | undefined): BinaryNode[] {
  return Array.isArray(node?.content) ? node.content : []
}

function numberOf(bytes: Uint8Array): number {
  return Buffer.from(bytes).readUIntBE(0, bytes.length)
}
