import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../src-runner/contract/routes.ts'
import { createFakeRunner, Refusal } from '../testing/fake-runner.ts'
import { makeAgent, makeId, makeSummary } from '../testing/things.ts'
import { ApiError, createClient, pathOf } from './client.ts'

function answering(response: () => Response): typeof fetch {
  return () => Promise.resolve(response())
}

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ApiError)
  return thrown as ApiError
}

describe('pathOf', () => {
  it('fills in parameters and leaves out absent query values', () => {
    expect(pathOf(ROUTES.getJob, { params: { jobId: 'a/b?c' } })).toBe('/api/jobs/a%2Fb%3Fc')
    expect(pathOf(ROUTES.listJobs, { query: { q: 'two words', limit: 20, cursor: undefined, agentId: '' } })).toBe(
      '/api/jobs?q=two+words&limit=20',
    )
  })
})

describe('createClient', () => {
  it('sends body and query by the contract and returns the response', async () => {
    const agent = makeAgent({ name: 'Notes' })
    const runner = createFakeRunner({ createAgent: () => ({ agent }), listJobs: () => ({ jobs: [makeSummary()], nextCursor: 'c2' }) })
    const client = createClient(runner.fetch)
    expect((await client.call('createAgent', { body: { name: 'Notes' } })).agent.name).toBe('Notes')
    expect((await client.call('listJobs', { query: { status: 'failed,completed', limit: 5 } })).nextCursor).toBe('c2')
    expect(runner.callsOf('listJobs')[0]!.query).toMatchObject({ status: ['failed', 'completed'], limit: 5 })
  })

  it('sends no content type without a body', async () => {
    let seen: Headers | undefined
    const client = createClient((_, init) => {
      seen = new Headers(init?.headers)
      return Promise.resolve(Response.json({ job: {} }, { status: 202 }))
    })
    await client.call('cancelJob', { params: { jobId: makeId() } })
    expect(seen!.has('content-type')).toBe(false)
  })

  it('throws the code, message and issues of an error response', async () => {
    const runner = createFakeRunner({
      updateAgent: () => new Refusal('folder_not_usable', 'That folder cannot be read.', [{ path: 'folders.0', message: 'not readable' }]),
    })
    const error = await failureOf(
      createClient(runner.fetch).call('updateAgent', { params: { agentId: makeId() }, body: { folders: ['/x'] } }),
    )
    expect([error.code, error.status, error.message]).toEqual(['folder_not_usable', 422, 'That folder cannot be read.'])
    expect(error.issues).toEqual([{ path: 'folders.0', message: 'not readable' }])
  })

  it.each([
    ['nothing listens', () => Promise.reject(new TypeError('Failed to fetch')), 'runner_unavailable', 0],
    ['a proxy answers for nobody', answering(() => new Response('<h1>Bad gateway</h1>', { status: 502 })), 'runner_unavailable', 502],
    [
      'the runner is going down',
      answering(() => Response.json({ error: 'runner_unavailable' }, { status: 503 })),
      'runner_unavailable',
      503,
    ],
    [
      'the database is away',
      answering(() => Response.json({ error: 'database_unavailable' }, { status: 503 })),
      'database_unavailable',
      503,
    ],
    [
      'a code that we do not know',
      answering(() => Response.json({ error: 'teapot', message: 'no' }, { status: 418 })),
      'unexpected_answer',
      418,
    ],
    ['a success that is not JSON', answering(() => new Response('<html>', { status: 200 })), 'unexpected_answer', 200],
  ] as const)('%s: %#', async (_, fetchFrom, code, status) => {
    const error = await failureOf(createClient(fetchFrom).call('listAgents'))
    expect([error.code, error.status]).toEqual([code, status])
  })

  it('rethrows an abort', async () => {
    const stop = new AbortController()
    const client = createClient(
      (_, init) => new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error))),
    )
    const call = client.call('listAgents', {}, { signal: stop.signal })
    stop.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('rejects a response that is not a stream', async () => {
    const client = createClient(answering(() => Response.json({ ok: true })))
    expect((await failureOf(client.open('streamEvents', {}))).code).toBe('unexpected_answer')
  })
})
