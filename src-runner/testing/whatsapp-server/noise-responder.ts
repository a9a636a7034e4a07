import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  decodeBinaryNode,
  encodeBinaryNode,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
  type BinaryNode,
} from '@whiskeysockets/baileys'

/** The keys of a server, and the chain of certificates by which a client recognises it. */
export type ServerIdentity = { rootKey: Uint8Array; static: KeyPair; certChain: Uint8Array }
type KeyPair = ReturnType<typeof Curve.generateKeyPair>

const NOTHING = Buffer.alloc(0)

let made: ServerIdentity | undefined

/** The same for all servers of a process, because the library signs in JavaScript, which takes longer than most tests. */
export const serverIdentity = (): ServerIdentity => (made ??= createServerIdentity())

function createServerIdentity(): ServerIdentity {
  const [root, intermediate, own] = [Curve.generateKeyPair(), Curve.generateKeyPair(), Curve.generateKeyPair()]
  const certify = (key: Uint8Array, serial: number, by: KeyPair) => {
    const details = proto.CertChain.NoiseCertificate.Details.encode({ serial, issuerSerial: serial - 1, key }).finish()
    return { details, signature: Curve.sign(by.private, details) }
  }
  const chain = { leaf: certify(own.public, 2, intermediate), intermediate: certify(intermediate.public, 1, root) }
  return { rootKey: root.public, static: own, certChain: proto.CertChain.encode(chain).finish() }
}

/**
 * The server's side of Noise_XX_25519_AESGCM_SHA256 as WhatsApp uses it: frames with a length of three bytes, in clear text
 * until the handshake is done, then encrypted in both directions.
 */
export function createNoiseResponder(identity: ServerIdentity, write: (bytes: Buffer) => void) {
  const ephemeral = Curve.generateKeyPair()
  let unread = NOTHING
  let hasIntroduction = false
  let hash: Buffer = Buffer.from(NOISE_MODE)
  let [salt, key]: [Buffer, Buffer] = [hash, hash]
  let counter = 0
  let clientEphemeral: Uint8Array | null = null
  let transport: { read: Buffer; write: Buffer; received: number; sent: number } | null = null

  function authenticate(data: Uint8Array): void {
    hash = sha256(Buffer.concat([hash, data]))
  }

  function expand(data: Uint8Array): [Buffer, Buffer] {
    const bytes = Buffer.from(hkdf(Buffer.from(data), 64, { salt, info: '' }))
    return [bytes.subarray(0, 32), bytes.subarray(32)]
  }

  function mix(data: Uint8Array): void {
    ;[salt, key] = expand(data)
    counter = 0
  }

  function seal(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, key, nonce(counter++), hash)
    authenticate(sealed)
    return sealed
  }

  function open(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, key, nonce(counter++), hash)
    authenticate(sealed)
    return plain
  }

  function writeFrame(bytes: Uint8Array): void {
    const length = Buffer.alloc(3)
    length.writeUIntBE(bytes.length, 0, 3)
    write(Buffer.concat([length, bytes]))
  }

  function greet(frame: Buffer): void {
    clientEphemeral = proto.HandshakeMessage.decode(frame).clientHello!.ephemeral!
    for (const known of [NOISE_WA_HEADER, clientEphemeral, ephemeral.public]) authenticate(known)
    mix(Curve.sharedKey(ephemeral.private, clientEphemeral))
    const sealedStatic = seal(identity.static.public)
    mix(Curve.sharedKey(identity.static.private, clientEphemeral))
    const serverHello = { ephemeral: ephemeral.public, static: sealedStatic, payload: seal(identity.certChain) }
    writeFrame(proto.HandshakeMessage.encode({ serverHello }).finish())
  }

  function finish(frame: Buffer): proto.ClientPayload {
    const { clientFinish } = proto.HandshakeMessage.decode(frame)
    mix(Curve.sharedKey(ephemeral.private, open(clientFinish!.static!)))
    const payload = proto.ClientPayload.decode(open(clientFinish!.payload!))
    const [read, written] = expand(NOTHING)
    transport = { read, write: written, received: 0, sent: 0 }
    return payload
  }

  return {
    /** Calls `onLogin` once, when the handshake is done, and then `onNode` for each node. */
    async read(bytes: Buffer, onLogin: (payload: proto.ClientPayload) => void, onNode: (node: BinaryNode) => Promise<void>): Promise<void> {
      unread = Buffer.concat([unread, bytes])
      if (!hasIntroduction) {
        // Routing information may come first.
        unread = unread.subarray(unread.indexOf(NOISE_WA_HEADER) + NOISE_WA_HEADER.length)
        hasIntroduction = true
      }
      while (unread.length >= 3 && unread.length >= unread.readUIntBE(0, 3) + 3) {
        const frame = Buffer.from(unread.subarray(3, unread.readUIntBE(0, 3) + 3))
        unread = unread.subarray(frame.length + 3)
        if (transport !== null)
          await onNode(await decodeBinaryNode(aesDecryptGCM(frame, transport.read, nonce(transport.received++), NOTHING)))
        else if (clientEphemeral === null) greet(frame)
        else onLogin(finish(frame))
      }
    },
    /** Only after the handshake. */
    send(node: BinaryNode): void {
      if (transport === null) throw new Error('the handshake is not done')
      writeFrame(aesEncryptGCM(encodeBinaryNode(node), transport.write, nonce(transport.sent++), NOTHING))
    },
  }
}

function nonce(count: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(count, 8)
  return bytes
}
