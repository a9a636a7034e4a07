import { request, type Agent } from 'node:http'

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
    req.on('error', reject)
    req.end(bytes)
  })
}
