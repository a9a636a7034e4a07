import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ROUTES, type Route } from '../../contract/routes.ts'
import { AppError } from '../../lib/errors.ts'
import { createInputReader, type Input } from './input.ts'
import { strict } from './strict-schema.ts'

const routes = Object.entries<Route>(ROUTES)

function refusalOf(route: Route, raw: Partial<Input>): AppError {
  try {
    createInputReader(route)({ params: {}, query: {}, body: undefined, ...raw })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was taken')
}

/** The numbers in a JSON schema without a minimum or maximum. */
function unboundNumbers(node: unknown, path = ''): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = node as Record<string, unknown>
  const isNumber = type === 'number' || type === 'integer'
  const isBound = (minimum ?? exclusiveMinimum) !== undefined && (maximum ?? exclusiveMaximum) !== undefined
  const inside = Object.entries(node).flatMap(([key, value]) => unboundNumbers(value, `${path}/${key}`))
  return isNumber && !isBound ? [path, ...inside] : inside
}

describe('every route', () => {
  it.each(routes)('%s refuses an unknown field in its query and body, and names it', (_name, route) => {
    const inQuery = route.access === 'public' ? [] : [{ query: { signatures: 'x' } }]
    for (const raw of [...inQuery, { body: { signatures: 'x' } }]) {
      const error = refusalOf(route, raw)
      const isOnly = error.issues!.every(({ kind }) => kind === 'unknown_field')
      expect([error.status, error.code]).toEqual([400, isOnly ? 'unknown_field' : 'invalid_request'])
      expect(error.issues).toContainEqual({
        path: 'signatures',
        message: '“signatures” is not a field of this request.',
        kind: 'unknown_field',
      })
    }
  })

  it.each(routes)('%s limits every number', (_name, route) => {
    const unbound = [route.params, route.query, route.body].flatMap((part) =>
      part === undefined ? [] : unboundNumbers(z.toJSONSchema(part, { io: 'output', unrepresentable: 'any' })),
    )
    expect(unbound).toEqual([])
  })

  it.each(routes)('%s names the field in its error messages', (_name, route) => {
    const wrong = {
      toString: 1,
      ...Object.fromEntries(Object.keys((route.body as z.ZodObject | undefined)?.shape ?? {}).map((key) => [key, {}])),
    }
    for (const body of [wrong, [], 'text', 7]) {
      const { issues = [], message } = refusalOf(route, { body })
      for (const sentence of [message, ...issues.map((issue) => issue.message)]) {
        expect(sentence).toMatch(/^[“A-Z].*\.$/)
        // A field may be named `expectedDigest`.
        expect(sentence.replaceAll(/“[^”]*”/g, '')).not.toMatch(/Invalid|expected|received|undefined/)
      }
    }
  })
})

it('refuses misspelled fields that would leave a webhook unsigned or a schedule without its budget', () => {
  const trigger = { name: 'Builds', taskTemplate: 'Look.', signatures: { scheme: 'github', secret: 's' } }
  expect(refusalOf(ROUTES.createTrigger, { body: trigger }).code).toBe('unknown_field')
  expect(refusalOf(ROUTES.updateSchedule, { params: { scheduleId: crypto.randomUUID() }, body: { dailyBudget: 1 } }).code).toBe(
    'unknown_field',
  )
})

describe('a nested field', () => {
  it('is refused like a top-level field', () => {
    const body = { name: 'Builds', taskTemplate: 'Look.', signature: { scheme: 'github', secret: 's', secrets: 's' } }
    expect(refusalOf(ROUTES.createTrigger, { body }).issues).toMatchObject([{ path: 'signature.secrets', kind: 'unknown_field' }])
    const schema = strict(z.object({ list: z.array(z.object({ a: z.number() })), free: z.record(z.string(), z.unknown()) }))
    expect(schema.safeParse({ list: [{ a: 1 }], free: { any: { thing: 1 } } }).success).toBe(true)
    expect(schema.safeParse({ list: [{ a: 1, b: 2 }], free: {} }).success).toBe(false)
  })

  it('of an unlisted schema type throws', () => {
    expect(() => strict(z.object({ a: z.lazy(() => z.object({})) }))).toThrow('lazy')
  })
})

describe('a query', () => {
  const read = (query: Record<string, unknown>) => createInputReader(ROUTES.listJobs)({ params: {}, query, body: undefined }).query

  it('accepts the usual spellings of a list', () => {
    const status = ['failed', 'cancelled']
    for (const query of [{ status: 'failed,cancelled' }, { status }, { 'status[]': status }]) expect(read(query)).toMatchObject({ status })
    expect(read({ 'status[]': 'failed' })).toMatchObject({ status: ['failed'] })
  })

  it('takes a field without a value for one that was not given', () => {
    const none = read({})
    const empty = Object.fromEntries(['status', 'agentId', 'channel', 'q', 'cursor', 'limit', 'from', 'to'].map((name) => [name, '']))
    expect(read(empty)).toEqual(none)
    // A field that must be given keeps its text, here that of a form which the person has just begun.
    const preview = createInputReader(ROUTES.previewCron)({ params: {}, query: { cron: '', timezone: 'UTC' }, body: undefined })
    expect(preview.query).toMatchObject({ cron: '' })
    expect(refusalOf(ROUTES.listJobs, { query: { agent: '' } }).code).toBe('unknown_field')
  })

  it('of a probe may hold anything', () => {
    expect(createInputReader(ROUTES.health)({ params: {}, query: { t: '1' }, body: undefined }).query).toEqual({})
  })

  it.each([
    [{ limit: ['1', '2'] }, 'limit', 'invalid_request'],
    [{ q: ['a', 'b'] }, 'q', 'invalid_request'],
    [{ 'q[]': 'a' }, 'q[]', 'unknown_field'],
    [{ 'status[0]': 'failed' }, 'status[0]', 'unknown_field'],
    [{ 'limit[]': ['1'] }, 'limit[]', 'unknown_field'],
    [{ from: '8640000000000001' }, 'from', 'invalid_request'],
    [{ limit: '1e9' }, 'limit', 'invalid_request'],
  ])('refuses %j', (query, path, code) => {
    const error = refusalOf(ROUTES.listJobs, { query })
    expect(error.code).toBe(code)
    expect(error.issues!.map((issue) => issue.path)).toContain(path)
  })
})

describe('an error message', () => {
  it('names the mistake for each kind', () => {
    const { message, issues } = refusalOf(ROUTES.createSchedule, {
      body: { name: '', agentId: 'x', task: 7, cron: '* * * * *', timezone: 'UTC', dailyBudgetUsd: 1000, mode: 'x', dailyBudget: 5 },
    })
    expect(issues!.map((issue) => issue.message)).toEqual(
      expect.arrayContaining([
        '“name” must not be empty.',
        '“agentId” must be a UUID.',
        '“task” must be text.',
        '“dailyBudgetUsd” must be at most 100.',
        '“dailyBudget” is not a field of this request.',
      ]),
    )
    expect(message).toMatch(/^“.*\. \d more fields do not fit\.$/)
  })

  it('names a price that is too large, and a secret that is not base64', () => {
    const price = { inputUsdPerMillion: 1e13, outputUsdPerMillion: 1 }
    expect(refusalOf(ROUTES.setModelPrice, { body: { model: { providerId: 'demo', model: 'm' }, price } }).message).toContain(
      'inputUsdPerMillion” must be at most 1000000.',
    )
    const trigger = { name: 'Builds', taskTemplate: 'Look.' }
    for (const secret of ['plain words', 'whsec_', 'whsec_a', '====']) {
      const { message } = refusalOf(ROUTES.createTrigger, { body: { ...trigger, signature: { scheme: 'standard_webhooks', secret } } })
      expect(message).toBe('A Standard Webhooks secret is base64, with or without “whsec_” before it.')
    }
  })
})
