import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server that publishes versions as a release does, with faults that a test asks for. */
export type UpdateServer = {
  /** Ends with a slash. */
  url: string
  /** The public key that its descriptions are signed with. */
  key: string
  /** Publishes a version. `change` alters the description before it is signed. */
  publish(version: string, file: Buffer, options?: PublishOptions): void
  /** Answers the next requests for this path with something else. */
  answer(path: string, answer: Answer, times?: number): void
  requests(): string[]
  close(): Promise<void>
}

export type PublishOptions = {
  channel?: 'latest' | 'beta'
  notes?: string
  change?: (description: Description) => unknown
  signedBy?: 'us' | 'stranger' | 'nobody'
}
type Description = { version: string; files: { url: string; sha512: string; size: number }[]; releaseNotes: string; releaseDate: string }

export async function startUpdateServer(): Promise<UpdateServer> {
  const ours = generateKeyPairSync('ed25519')
  const stranger = generateKeyPairSync('ed25519')
  const files = new Map<string, Buffer>()
  const requests: string[] = []
  let answers: { path: string; answer: Answer; times: number }[] = []

  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://127.0.0.1').pathname.slice(1)
    requests.push(path)
    const planned = answers.find((each) => each.path === path && each.times > 0)
    if (planned) {
      planned.times--
      return planned.answer(request, response)
    }
    const file = files.get(path)
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': file.length }).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    key: ours.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    publish(version, file, { channel = 'latest', notes = '', change = (it: Description): unknown => it, signedBy = 'us' } = {}) {
      const url = `Deckhand-${version}-linux-${process.arch}.AppImage`
      const sha512 = createHash('sha512').update(file).digest('base64')
      const description = {
        version,
        files: [{ url, sha512, size: file.length }],
        releaseNotes: notes,
        releaseDate: '2026-11-23T00:00:00.000Z',
      }
      const changed = change(description)
      const text = Buffer.from(typeof changed === 'string' ? changed : JSON.stringify(changed))
      const name = descriptionName(channel)
      files.set(url, file)
      files.set(name, text)
      files.delete(`${name}.sig`)
      const { privateKey } = signedBy === 'stranger' ? stranger : ours
      if (signedBy !== 'nobody') files.set(`${name}.sig`, Buffer.from(sign(null, text, privateKey).toString('base64')))
    },
    answer(path, answer, times = Infinity) {
      answers = [{ path, answer, times }, ...answers]
    },
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What electron-updater asks for on this system. */
export function descriptionName(channel: 'latest' | 'beta' = 'latest'): string {
  if (process.platform === 'darwin') return `${channel}-mac.yml`
  if (process.platform === 'win32') return `${channel}.yml`
  return process.arch === 'x64' ? `${channel}-linux.yml` : `${channel}-linux-${process.arch}.yml`
}
