import { request, type Agent, type IncomingMessage } from 'node:http'

export type SentDelivery = {
  status: number
  body: { ok?: boolean; jobId?: string; error?: string }
  text: string
  headers: Record<string, string>
}

export type WebhookRequest = {
  /** Bytes are sent as they are, any other value as JSON. */
  body?: unknown
  headers?: Record<string, string>
  agent?: Agent
}

/** Posts like an outside service, which only knows the URL. No header is added. */
export function postWebhook(url: string, { body = {}, headers, agent }: WebhookRequest = {}): Promise<SentDelivery> {
  const bytes = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'POST', agent, headers: headers ?? { 'content-type': 'application/json' } }, (res) => {
      readAnswer(res).then(resolve, reject)
    })
    req.on('error', reject)
    req.end(bytes)
  })
}

/** A delivery whose slug and secret were accepted, and whose body was not sent yet. */
export function openDelivery(url: string, body = '{}'): Promise<{ finish(): Promise<SentDelivery> }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), expect: '100-continue' }
    const req = request(url, { method: 'POST', headers })
    const answered = new Promise<IncomingMessage>((done) => req.on('response', done)).then(readAnswer)
    req.on('error', reject)
    // Node emits it in the turn in which it hands over the request.
    req.on('continue', () => resolve({ finish: () => (req.end(body), answered) }))
    req.flushHeaders()
  })
}

function readAnswer(res: IncomingMessage): Promise<SentDelivery> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    res.on('data', (chunk: Buffer) => chunks.push(chunk))
    res.on('error', reject)
    res.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      resolve({
        status: res.statusCode!,
        text,
        body: JSON.parse(text) as SentDelivery['body'],
        headers: res.headers as Record<string, string>,
      })
    })
  })
}
