import { generateKeyPairSync, sign } from 'node:crypto'

/** A key and a self-signed certificate for a host name. */
export function selfSigned(host: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const name = der(0x30, der(0x31, der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(host)))))
  const altNames = der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, der(0x30, der(0x82, Buffer.from(host)))))
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])), // serial number
    ecdsaWithSha256,
    name, // issuer
    der(0x30, time('20200101000000Z'), time('20991231235959Z')),
    name, // subject
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, altNames)),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const base64 = der(0x30, body, ecdsaWithSha256, signature).toString('base64')
  // A last line without a character is no PEM, and the length of a signature varies.
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

/** One value in DER: its kind, its length, what it holds. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const length = content.length
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes))
}

function time(text: string): Buffer {
  return der(0x18, Buffer.from(text))
}
