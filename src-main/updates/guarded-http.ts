import { createPublicKey, verify } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { RequestOptions } from 'node:http'
import { ElectronHttpExecutor } from 'electron-updater/out/electronHttpExecutor.js'
import { UpdateError } from './update-source.ts'

/** The parts of a response and a request that Node's and Electron's have in common. */
type Response = EventEmitter & { headers: Record<string, string | string[] | undefined> }
type Request = EventEmitter & { abort(): void; end(): void }
type Send = (options: RequestOptions, onResponse: (response: Response) => void) => Request

export type Limits = {
  /** Which addresses may be asked, redirects included. */
  allows: (url: URL) => boolean
  /** The public half of the key that signs releases: Ed25519, SPKI, base64. */
  key: string
  /** Without a byte for so long, the server counts as hanging. */
  silenceMs: number
  /** What a description of a release may weigh. */
  metadataBytes: number
}

/**
 * The one way out for updates. electron-updater follows redirects to any host and has no limit of time in Electron. And it
 * believes what the server says about a release: here each description needs a signature, which covers the digests of all
 * files. So the owner of the server cannot hand out a program.
 */
export class GuardedHttp extends ElectronHttpExecutor {
  /** Why the last request was refused: electron-updater replaces some errors by its own. */
  problem: UpdateError | null = null
  /** Whether the last request returned a description that we signed. Which path is a description's is the server's choice. */
  gaveSigned = false
  /** What the file that is being downloaded weighs; 0: none is. */
  fileBytes = 0
  readonly #limits: Limits
  readonly #send: Send

  /** `send`: tests leave Electron out. */
  constructor(limits: Limits, send?: Send) {
    super()
    this.#limits = limits
    this.#send = send ?? ((options, onResponse) => super.createRequest(options, onResponse))
  }

  override async request(...[options, token, data]: Parameters<ElectronHttpExecutor['request']>): Promise<string | null> {
    this.gaveSigned = false
    const text = await super.request({ ...options }, token, data)
    if (!/\.yml(\?|$)/.test(options.path ?? '')) return text
    const path = options.path!.replace(/\.yml(?=\?|$)/, '.yml.sig')
    const signature = await super.request({ ...options, path }, token).catch((error: { code?: unknown }) => {
      if (error.code === 'HTTP_ERROR_404') return null
      throw error
    })
    if (!this.#isSigned(text ?? '', signature ?? '')) throw this.#note('signature', 'the description of the release is not signed by us')
    this.gaveSigned = true
    return text
  }

  #isSigned(text: string, signature: string): boolean {
    try {
      const key = createPublicKey({ key: Buffer.from(this.#limits.key, 'base64'), format: 'der', type: 'spki' })
      return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, Buffer.from(signature.trim(), 'base64'))
    } catch {
      return false
    }
  }

  override createRequest(options: RequestOptions, callback: (response: Response) => void): Electron.ClientRequest {
    const url = urlOf(options)
    const limit = this.fileBytes || this.#limits.metadataBytes
    const request = this.#limits.allows(url)
      ? this.#send(options, (response) => {
          callback(response)
          this.#watch(request, response, limit)
        })
      : refused(this.#note('refused_address', `updates do not come from ${url.origin}`))
    this.#endWhenSilent(request)
    return request as unknown as Electron.ClientRequest
  }

  /** Ends a response that is larger than announced, or announces too much. */
  #watch(request: Request, response: Response, limit: number): void {
    let bytes = 0
    const tooLarge = () => {
      request.emit('error', this.#note('too_large', `the server sent more than ${limit} bytes`))
      request.abort()
    }
    if (Number(response.headers['content-length'] ?? 0) > limit) return tooLarge()
    response.on('data', (chunk: Buffer | string) => {
      bytes += chunk.length
      request.emit('progress-of-update')
      if (bytes > limit) tooLarge()
    })
    response.on('end', () => request.emit('end-of-update'))
  }

  #endWhenSilent(request: Request): void {
    const silent = () => {
      request.emit('error', this.#note('timeout', `the server said nothing for ${this.#limits.silenceMs} ms`))
      request.abort()
    }
    let timer = setTimeout(silent, this.#limits.silenceMs)
    request.on('progress-of-update', () => {
      clearTimeout(timer)
      timer = setTimeout(silent, this.#limits.silenceMs)
    })
    for (const end of ['error', 'abort', 'end-of-update']) request.on(end, () => clearTimeout(timer))
  }

  #note(code: UpdateError['code'], message: string): UpdateError {
    return (this.problem = new UpdateError(code, message))
  }
}

function urlOf({ protocol, hostname, host, port, path }: RequestOptions): URL {
  return new URL(`${protocol ?? 'https:'}//${hostname ?? host}${port ? `:${port}` : ''}${path ?? '/'}`)
}

/** Fails like a request that could not be sent. To throw instead would end the app: redirects are followed in an event. */
function refused(error: UpdateError): Request {
  const request: Request = Object.assign(new EventEmitter(), { abort: () => undefined, end: () => void request.emit('error', error) })
  return request
}
