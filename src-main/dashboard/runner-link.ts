import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

const http = process.getBuiltinModule('node:http')

/** Where the runner listens, and its secret, while our own runner is ready. */
export type RunnerAddress = { host: string; port: number; secret: string }

export type RunnerCall = {
  method: string
  /** Path and query as received. */
  target: string
  headers: OutgoingHttpHeaders
  body: Readable | null
  signal: AbortSignal
}

export type RunnerLink = {
  /** Resolves with the response's head; the body follows as a stream. Rejects if there is no response. */
  call(address: RunnerAddress, call: RunnerCall): Promise<IncomingMessage>
  close(): void
}

/**
 * Requests to the runner over keep-alive connections. They belong to one endpoint object, so after a restart nothing is
 * written to a socket of the old runner.
 */
export function createRunnerLink(): RunnerLink {
  let agent: Agent | null = null
  let agentOf: RunnerAddress | null = null

  function agentFor(address: RunnerAddress): Agent {
    if (agent === null || agentOf !== address) {
      agent?.destroy()
      agent = new http.Agent({ keepAlive: true, maxFreeSockets: 16 })
      agentOf = address
    }
    return agent
  }

  return {
    call(address, { method, target, headers, body, signal }) {
      return new Promise((resolve, reject) => {
        const request = http.request({
          host: address.host,
          port: address.port,
          method,
          path: target,
          agent: agentFor(address),
          signal,
          headers: { ...headers, authorization: `Bearer ${address.secret}` },
        })
        request.once('error', reject)
        request.once('response', (response) => {
          // Later errors reach the reader of the body, through the stream.
          request.removeListener('error', reject)
          request.on('error', () => undefined)
          resolve(response)
        })
        if (body === null) return request.end()
        body.once('error', (error) => request.destroy(error))
        body.pipe(request)
      })
    },
    close() {
      agent?.destroy()
      agent = null
    },
  }
}
