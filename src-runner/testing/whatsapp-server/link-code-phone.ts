import { randomBytes } from 'node:crypto'
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  Curve,
  derivePairingCodeKey,
  getBinaryNodeChildBuffer,
  hkdf,
  type BinaryNode,
} from '@whiskeysockets/baileys'

/** The phone of somebody who types a code instead of scanning one. */
export function createLinkCodePhone() {
  const identity = Curve.generateKeyPair()
  const ephemeral = Curve.generateKeyPair()
  const ref = randomBytes(16)
  let hello: Buffer | null = null
  let device: Uint8Array | null = null
  const part = (node: BinaryNode, tag: string) => Buffer.from(getBinaryNodeChildBuffer(node, tag)!)

  return {
    /** Handles a stage of the device. `advSecret`: what both sides share after the last one. */
    take(node: BinaryNode): { reply: BinaryNode[]; advSecret: Buffer | null } {
      if (node.attrs['stage'] === 'companion_hello') {
        hello = part(node, 'link_code_pairing_wrapped_companion_ephemeral_pub')
        const content = [{ tag: 'link_code_pairing_ref', attrs: {}, content: ref }]
        return { reply: [{ tag: 'link_code_companion_reg', attrs: { stage: 'companion_hello' }, content }], advSecret: null }
      }
      const wrapped = part(node, 'link_code_pairing_wrapped_key_bundle')
      const shared = Curve.sharedKey(ephemeral.private, device!)
      const key = hkdf(Buffer.from(shared), 32, { salt: wrapped.subarray(0, 32), info: 'link_code_pairing_key_bundle_encryption_key' })
      const bundle = aesDecryptGCM(wrapped.subarray(44), key, wrapped.subarray(32, 44), Buffer.alloc(0))
      const [deviceIdentity, random] = [bundle.subarray(0, 32), bundle.subarray(64)]
      const secret = Buffer.concat([shared, Curve.sharedKey(identity.private, deviceIdentity), random])
      return { reply: [], advSecret: Buffer.from(hkdf(secret, 32, { info: 'adv_secret' })) }
    },
    /** A wrong code gives the device a key that does not fit. */
    async typeCode(code: string, send: (node: BinaryNode) => void): Promise<void> {
      if (hello === null) throw new Error('the device has not asked for a code')
      device = aesDecryptCTR(hello.subarray(48, 80), await derivePairingCodeKey(code, hello.subarray(0, 32)), hello.subarray(32, 48))
      const [salt, iv] = [randomBytes(32), randomBytes(16)]
      const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(code, salt), iv)])
      const content: BinaryNode[] = [
        { tag: 'link_code_pairing_ref', attrs: {}, content: ref },
        { tag: 'primary_identity_pub', attrs: {}, content: identity.public },
        { tag: 'link_code_pairing_wrapped_primary_ephemeral_pub', attrs: {}, content: wrapped },
      ]
      send({
        tag: 'notification',
        attrs: { from: 's.whatsapp.net', type: 'link_code_companion_reg', id: randomBytes(6).toString('hex'), t: '1' },
        content: [{ tag: 'link_code_companion_reg', attrs: { stage: 'primary_hello' }, content }],
      })
    },
  }
}
