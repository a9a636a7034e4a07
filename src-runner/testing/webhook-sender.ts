import { request, type Agent, type IncomingMessage } from 'node:http'

export type SentDelivery = {
  status: number
  body: { ok?: boolean; jobId?: string; error?: string }
  text: string
  headers: Record<string, string>
}

export type WebhookRequest = {
  /** As bytes, or as JSON of the value. */
  body?: unknown
  headers?: Record<string, string>
  agent?: Agent
}

/** Posts like a service out there: it knows a URL and nothing else. Headers are only those it was told to send. */
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

/** A sender that was let in by slug and secret, and has not sent its body yet. */
export function openDelivery(url: string, body = '{}'): Promise<{ finish(): Promise<SentDelivery> }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), expect: '100-continue' }
    const req = request(url, { method: 'POST', headers })
    const answered = new Promise<IncomingMessage>((done) => req.on('response', done)).then(readAnswer)
    req.on('error', reject)
    // Node says it in the turn in which the request is handed over.
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
