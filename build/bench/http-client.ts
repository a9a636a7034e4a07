import { Agent, type IncomingMessage, request } from 'node:http'

/** The leanest client there is, so that what is measured is the other side. */
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export function send(method: string, url: string, body?: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    request(url, { method, agent, headers }, resolve).on('error', reject).end(text)
  })
}

export async function readText(answer: IncomingMessage): Promise<string> {
  let text = ''
  answer.setEncoding('utf8')
  for await (const chunk of answer) text += chunk as string
  return text
}

export async function callJson<T>(method: string, url: string, body?: unknown): Promise<T> {
  const answer = await send(method, url, body)
  const text = await readText(answer)
  if ((answer.statusCode ?? 500) >= 400) throw new Error(`${method} ${url}: ${answer.statusCode} ${text}`)
  return JSON.parse(text) as T
}

export function closeClient(): void {
  agent.destroy()
}
