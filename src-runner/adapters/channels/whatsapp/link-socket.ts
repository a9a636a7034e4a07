import { createHash } from 'node:crypto'
import type { AuthenticationCreds, BinaryNode, SocketConfig, WAMessage, WASocket } from '@whiskeysockets/baileys'
import type { Clock } from '../../../lib/clock.ts'
import { createAlbums } from './albums.ts'
import type { LinkState } from './link-state.ts'
import { createKeyStore, NO_LOG, writeCreds, type Library, type TestServer } from './library.ts'

/** What happens on a connection. Codes are those of HTTP, as the library has them. */
export type LinkEvents = {
  /** A new code to scan, for `QR_SHOWN_MS`. */
  qr(code: string): void
  /** The phone has accepted the device. The service closes the connection for a restart. */
  paired(): void
  open(): void
  /** Called once, at the end. `storeError`: the connection was given up because the link state could not be written. */
  closed(code: number, storeError: unknown): void
  /** The service has sent something. */
  frame(): void
  /**
   * Called for one readable message of a person at a time, or for several that they sent as one. They are confirmed when this has
   * resolved. After a rejection, the connection is closed and the service repeats them.
   */
  message(messages: readonly [WAMessage, ...WAMessage[]]): Promise<void>
  /** Called for a message of a person that cannot be decrypted, before its sender is asked to repeat it. */
  undecrypted?(message: WAMessage): void
}

export type LinkSocket = {
  socket: WASocket
  me(): NonNullable<AuthenticationCreds['me']>
  /** Resolves when the service has answered. Rejects when it has not in time. */
  ping(): Promise<void>
  /** Resolves when it is closed. `closed` is called before. */
  close(): Promise<void>
}

type LinkSocketDeps = {
  library: Library
  state: LinkState
  creds: AuthenticationCreds
  clock: Clock
  testServer: TestServer
  /** The name of the device on the phone, and its kind. */
  browser: [string, string, string]
  events: LinkEvents
}

/** A message that was read: its node, and what of it is kept until it is confirmed. */
type Taken = { node: BinaryNode; message: WAMessage; kept: string[]; isOffline: boolean }

/** How the device is named on the phone. */
export const DEVICE_NAME: [string, string, string] = ['Deckhand', 'Chrome', '10.15.7']
export const QR_SHOWN_MS = 20_000
const PING_DEADLINE_MS = 10_000
const MAX_KEPT = 200
const MAX_RESENDABLE = 200
const KEPT = 'plain'
export const SENT = 'sent'

/** Opens a connection. It is never opened again by itself. */
export function openLinkSocket({ library, state, creds, clock, testServer, browser, events }: LinkSocketDeps): LinkSocket {
  let isClosed = false
  let storeError: unknown = null
  let resolveClosed = () => {}
  const closed = new Promise<void>((resolve) => (resolveClosed = resolve))
  const keys = createKeyStore(library, state)
  const keeping = createRepository({ library, state, onStoreError: giveUp })
  const socket = library.makeWASocket({
    ...(testServer === null ? {} : { waWebSocketUrl: testServer.url }),
    auth: { creds, keys },
    logger: NO_LOG,
    browser,
    qrTimeout: testServer?.qrShownMs ?? QR_SHOWN_MS,
    // The person's chats of the past are not ours to read.
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    // While a device is online, the phone shows no notifications.
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    transactionOpts: ONE_TRY,
    makeSignalRepository: keeping.make,
    getMessage: async ({ id }) => {
      const text = state.get(`${SENT} ${id}`)
      return text === undefined ? undefined : library.proto.Message.decode(Buffer.from(text, 'base64'))
    },
  })
  const { ev, ws } = socket

  function giveUp(error: unknown): void {
    storeError ??= error
    terminate()
  }

  /** Without the closing handshake, which a stalled server would not answer. */
  function terminate(): void {
    void socket.end(undefined)
    const { socket: raw } = ws as unknown as { socket: { terminate(): void } | null }
    raw?.terminate()
  }

  ev.on('creds.update', () => {
    try {
      writeCreds(library, state, creds)
    } catch (error) {
      giveUp(error)
    }
  })
  ev.on('connection.update', ({ connection, qr, isNewLogin, lastDisconnect }) => {
    if (isClosed) return
    if (qr !== undefined) events.qr(qr)
    if (isNewLogin === true) events.paired()
    if (connection === 'open') events.open()
    if (connection !== 'close') return
    isClosed = true
    albums.drop()
    const { output } = (lastDisconnect?.error ?? {}) as { output?: { statusCode?: number } }
    events.closed(output?.statusCode ?? 428, storeError)
    resolveClosed()
  })
  ws.on('frame', () => isClosed || events.frame())

  // The library confirms a message before it hands it over. So each message is read and stored first, and then given to it.
  const [confirm] = ws.listeners('CB:message') as ((node: BinaryNode) => Promise<void>)[]
  ws.removeAllListeners('CB:message')
  let taking = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => void (taking = taking.then(work).catch(terminate))
  const albums = createAlbums({ library, clock, handOver, later: inTurn })
  ws.on('CB:message', (node: BinaryNode) => inTurn(() => takeMessage(node)))

  async function takeMessage(node: BinaryNode): Promise<void> {
    if (isClosed) return
    const read = isForUs(library, creds, node) ? await readMessage(node) : null
    if (isClosed) return
    const { offline, ...attrs } = node.attrs
    const online = { ...node, attrs }
    if (read === null) return confirm!(online)
    const { message, kept } = read
    if (kept !== null) return albums.take({ node: online, message, kept, isOffline: offline !== undefined })
    events.undecrypted?.(message)
    await confirm!(online)
  }

  async function handOver(taken: readonly [Taken, ...Taken[]]): Promise<void> {
    if (isClosed) return
    const [first, ...rest] = taken
    await events.message([first.message, ...rest.map(({ message }) => message)])
    for (const { node, kept } of taken) {
      if (isClosed) return
      await confirm!(node)
      if (ws.isOpen) keeping.forget(kept)
    }
  }

  /** null: there is nothing in it. `kept` is null if it cannot be decrypted. */
  async function readMessage(node: BinaryNode): Promise<{ message: WAMessage; kept: string[] | null } | null> {
    const kept: string[] = []
    const decoded = decode({ ...node, content: encryptedIn(node) }, keeping.keepInto(kept))
    if (decoded === null) return null
    const { fullMessage, decrypt } = decoded
    await decrypt()
    if (storeError !== null) throw new Error('the link state could not be written', { cause: storeError })
    if (fullMessage.messageStubType === library.WAMessageStubType.CIPHERTEXT) return { message: fullMessage, kept: null }
    return fullMessage.messageStubType == null && fullMessage.message ? { message: fullMessage, kept } : null
  }

  /** null: the library does not understand it, and would not if it came again. */
  function decode(node: BinaryNode, repository: Repository): ReturnType<Library['decryptMessageNode']> | null {
    try {
      return library.decryptMessageNode(node, creds.me!.id, creds.me!.lid ?? '', repository, NO_LOG)
    } catch {
      return null
    }
  }

  return {
    socket,
    me: () => creds.me!,
    async ping() {
      const answered = socket.query({
        tag: 'iq',
        attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' },
        content: [{ tag: 'ping', attrs: {} }],
      })
      await within(clock, PING_DEADLINE_MS, answered)
    },
    async close() {
      terminate()
      await closed
      await taking
    },
  }
}

/** What the person writes to others is not read, nor what devices of theirs tell each other. */
function isForUs(library: Library, { me }: AuthenticationCreds, { attrs }: BinaryNode): boolean {
  const { from = '', participant, recipient, category } = attrs
  const isOwn = (jid = '') => library.areJidsSameUser(jid, me?.id) || library.areJidsSameUser(jid, me?.lid)
  if (category === 'peer') return false
  if (library.isJidGroup(from)) return !isOwn(participant)
  if (!library.isPnUser(from) && !library.isLidUser(from)) return false
  return !isOwn(from) || isOwn(recipient)
}

/** The library also reads unencrypted content, in which the service could write in anybody's name, also in the owner's. */
function encryptedIn({ content }: BinaryNode): BinaryNode[] {
  if (!Array.isArray(content)) return []
  return content.filter(({ tag, attrs }) => (tag === 'enc' && attrs['type'] !== 'plaintext') || tag === 'unavailable')
}

const ONE_TRY = { maxCommitRetries: 1, delayBetweenTriesMs: 0 }

type Repository = ReturnType<SocketConfig['makeSignalRepository']>

/**
 * The end-to-end encryption, over keys that are stored before anything depends on them. The library would store those of a sent
 * message after sending it, and a kill in between would use them twice. What was read stays stored until it is confirmed, because
 * the service repeats an unconfirmed message and each one can be decrypted only once.
 */
function createRepository({ library, state, onStoreError }: { library: Library; state: LinkState; onStoreError(error: unknown): void }) {
  let made: Repository | null = null
  let transact: (<T>(work: () => Promise<T>, key: string) => Promise<T>) | null = null
  /** Names to remove with the next change. */
  let spent: string[] = []
  const store = createKeyStore(library, state, (changes) => {
    try {
      state.write([...spent.map((name) => [name, null] as const), ...changes])
      spent = []
    } catch (error) {
      onStoreError(error)
      throw error
    }
  })
  const keys = library.addTransactionCapability(store, NO_LOG, ONE_TRY)
  const nameOf = (ciphertext: Uint8Array) => `${KEPT} ${createHash('sha256').update(ciphertext).digest('base64')}`

  function recall(ciphertext: Uint8Array): Buffer | null {
    const text = state.get(nameOf(ciphertext))
    return text === undefined ? null : Buffer.from(JSON.parse(text, library.BufferJSON.reviver) as Uint8Array)
  }

  async function keep(kept: string[], jid: string, ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const name = nameOf(ciphertext)
    kept.push(name)
    const earlier = recall(ciphertext)
    if (earlier !== null) return earlier
    return transact!(async () => {
      const plain = await decrypt()
      await keys.set({ [KEPT]: { [name.slice(KEPT.length + 1)]: Buffer.from(plain) } } as never)
      return plain
    }, jid)
  }

  return {
    make: ((auth, logger, toLid) => {
      const repository = library.DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds: auth.creds, keys }, logger, toLid)
      transact = keys.transaction.bind(keys)
      made = {
        ...repository,
        decryptMessage: async (given) => recall(given.ciphertext) ?? repository.decryptMessage(given),
        decryptGroupMessage: async (given) => recall(given.msg) ?? repository.decryptGroupMessage(given),
      }
      return made
    }) satisfies SocketConfig['makeSignalRepository'],
    /** The same, keeping what it decrypts. */
    keepInto: (kept: string[]): Repository => ({
      ...made!,
      decryptMessage: (given) => keep(kept, given.jid, given.ciphertext, () => made!.decryptMessage(given)),
      decryptGroupMessage: (given) => keep(kept, given.group, given.msg, () => made!.decryptGroupMessage(given)),
    }),
    forget(names: string[]): void {
      spent.push(...names)
      const all = [...state.names()].filter((name) => name.startsWith(`${KEPT} `))
      spent.push(...all.slice(0, Math.max(0, all.length - MAX_KEPT)))
    },
  }
}

/** The changes that keep a sent message, for the case that the recipient cannot read it and asks for it again. */
export function keepSent(state: LinkState, id: string, encoded: Uint8Array): void {
  const earlier = [...state.names()].filter((name) => name.startsWith(`${SENT} `))
  const tooMany = earlier.slice(0, Math.max(0, earlier.length + 1 - MAX_RESENDABLE))
  state.write([...tooMany.map((name) => [name, null] as const), [`${SENT} ${id}`, Buffer.from(encoded).toString('base64')]])
}

/** Rejects if `work` takes longer. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => reject(new Error('no answer in time')))
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return Promise.race([work, late]).finally(cancel)
}
