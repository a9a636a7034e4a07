import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  generateSignalPubKey,
  initAuthCreds,
  proto,
  unpadRandomMax16,
  type BinaryNode,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys'
import { memoize } from '../../lib/memoize.ts'
import { silentLibraryLog } from './silent-library-log.ts'

/** What a linked device has published: somebody needs it to write to the device for the first time. */
export type DeviceBundle = {
  registrationId: number
  identityKey: Uint8Array
  signedPreKey: { keyId: number; publicKey: Uint8Array; signature: Uint8Array }
  preKeys: { keyId: number; publicKey: Uint8Array }[]
}

export type SignalParty = ReturnType<typeof createSignalParty>

const PADDING = 5

/** Keys take longer to make than most of what is tested with them, so that everybody has the same ones in all servers of a process. */
const credsOf = memoize((_jid: string) => initAuthCreds())

/** Somebody with a phone: their identity, their keys, and their end-to-end encrypted session with the linked device. */
export function createSignalParty(jid: string, lid: string) {
  const creds = credsOf(jid)
  const held = new Map<string, unknown>()
  const store: SignalKeyStore = {
    get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
      Object.fromEntries(ids.flatMap((id) => (held.has(`${type} ${id}`) ? [[id, held.get(`${type} ${id}`)]] : []))) as never,
    set: (data: SignalDataSet) => {
      for (const [type, values] of Object.entries(data))
        for (const [id, value] of Object.entries(values)) held.set(`${type} ${id}`, value ?? undefined)
    },
  }
  const keys = addTransactionCapability(store, silentLibraryLog, { maxCommitRetries: 1, delayBetweenTriesMs: 0 })
  const signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, silentLibraryLog, async () => [])
  let preKeys = 0
  let knows: DeviceBundle | null = null

  return {
    jid,
    lid,
    /**
     * The bundle that the server hands out, with a new key each time: a phone replaces used ones. What is encrypted with a bad one
     * cannot be read.
     */
    bundle(asked: string, isBad: boolean): BinaryNode {
      const id = ++preKeys
      const preKey = Curve.generateKeyPair()
      held.set(`pre-key ${id}`, preKey)
      const { keyPair, signature } = creds.signedPreKey
      const node = (tag: string, content: BinaryNode['content']): BinaryNode => ({ tag, attrs: {}, content })
      return {
        tag: 'user',
        attrs: { jid: asked },
        content: [
          node('registration', encodeBigEndian(creds.registrationId)),
          node('type', Buffer.from([5])),
          node('identity', creds.signedIdentityKey.public),
          node('skey', [
            node('id', encodeBigEndian(creds.signedPreKey.keyId, 3)),
            node('value', isBad ? Curve.generateKeyPair().public : keyPair.public),
            node('signature', signature),
          ]),
          node('key', [node('id', encodeBigEndian(id, 3)), node('value', preKey.public)]),
        ],
      }
    },
    /** Encrypts for the device. `fresh`: in a new session, as after the device could not read a message. */
    async encrypt(device: string, bundle: DeviceBundle, message: proto.IMessage, { fresh = false } = {}): Promise<BinaryNode> {
      if (fresh || knows !== bundle) {
        knows = bundle
        const preKey = bundle.preKeys.shift()
        const { registrationId, identityKey, signedPreKey } = bundle
        await signal.deleteSession([device])
        await signal.injectE2ESession({
          jid: device,
          session: {
            registrationId,
            identityKey: generateSignalPubKey(identityKey),
            signedPreKey: { ...signedPreKey, publicKey: generateSignalPubKey(signedPreKey.publicKey) },
            ...(preKey === undefined ? {} : { preKey: { ...preKey, publicKey: generateSignalPubKey(preKey.publicKey) } }),
          },
        })
      }
      const data = Buffer.concat([proto.Message.encode(message).finish(), Buffer.alloc(PADDING, PADDING)])
      const { type, ciphertext } = await signal.encryptMessage({ jid: device, data })
      return { tag: 'enc', attrs: { v: '2', type }, content: ciphertext }
    },
    /** Encrypts for a group: the key of this sender for the device, and the text with that key. */
    async encryptForGroup(group: string, device: string, bundle: DeviceBundle, message: proto.IMessage): Promise<BinaryNode[]> {
      const data = Buffer.concat([proto.Message.encode(message).finish(), Buffer.alloc(PADDING, PADDING)])
      const { ciphertext, senderKeyDistributionMessage } = await signal.encryptGroupMessage({ group, meId: jid, data })
      const share = { groupId: group, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage }
      const key = await this.encrypt(device, bundle, { senderKeyDistributionMessage: share })
      return [key, { tag: 'enc', attrs: { v: '2', type: 'skmsg' }, content: ciphertext }]
    },
    /** Stores the key with which the device writes to a group. */
    async takeGroupKey(device: string, sealed: BinaryNode): Promise<void> {
      const { senderKeyDistributionMessage: item } = await this.decrypt(device, sealed)
      await signal.processSenderKeyDistributionMessage({ item: item!, authorJid: device })
    },
    async decryptFromGroup(group: string, device: string, { content }: BinaryNode): Promise<proto.Message> {
      const bytes = await signal.decryptGroupMessage({ group, authorJid: device, msg: content as Uint8Array })
      return proto.Message.decode(unpadRandomMax16(bytes))
    },
    async decrypt(device: string, { attrs, content }: BinaryNode): Promise<proto.Message> {
      const type = attrs['type'] as 'pkmsg' | 'msg'
      return proto.Message.decode(unpadRandomMax16(await signal.decryptMessage({ jid: device, type, ciphertext: content as Uint8Array })))
    },
  }
}
