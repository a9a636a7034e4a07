import { readdirSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '../../contract/errors.ts'
import { ROUTES, type Route } from '../../contract/routes.ts'
import { openApiDocument } from './openapi.ts'

type Operation = { operationId: string; responses: Record<string, { description: string }>; parameters: { name: string; in: string }[] }

function operationOf(route: Route): Operation {
  const paths = openApiDocument()['paths'] as Record<string, Record<string, Operation>>
  return paths[route.path.replace(/:(\w+)/g, '{$1}')]![route.method.toLowerCase()]!
}

describe('the OpenAPI document', () => {
  it('is valid by the official schema, with every reference resolved', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(openApiDocument()))).toEqual({ valid: true })
    const refs = [...JSON.stringify(openApiDocument()).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!)
    const { schemas } = openApiDocument()['components'] as { schemas: Record<string, unknown> }
    expect(refs.filter((name) => !(name in schemas))).toEqual([])
    expect(JSON.stringify(openApiDocument())).not.toContain('$defs')
  })

  it('lists every route with its parameters and errors', () => {
    for (const [name, route] of Object.entries<Route>(ROUTES)) {
      const operation = operationOf(route)
      expect(operation.operationId).toBe(name)
      expect(operation.responses[route.status]).toBeDefined()
      for (const code of route.errors)
        expect([name, operation.responses[ERROR_STATUS[code]]?.description]).toEqual([name, expect.stringContaining(code)])
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => `:${parameter.name}`)
      expect(route.path.match(/:\w+/g) ?? []).toEqual(declared)
    }
  })

  it('says where access tokens are accepted, and where only the secret is', () => {
    const securityOf = (route: Route) => (operationOf(route) as Operation & { security: object[] }).security
    expect(securityOf(ROUTES.listAgents)).toEqual([{}, { workerSecret: [] }, { accessToken: [] }])
    expect(securityOf(ROUTES.updateSettings)).toEqual([{}, { workerSecret: [] }])
    expect(operationOf(ROUTES.updateSettings).responses[403]!.description).toContain('owner_only')
    expect(securityOf(ROUTES.runWorker)).toEqual([{ workerSecret: [] }])
    expect(securityOf(ROUTES.health)).toEqual([])
  })

  it('has the routes of every noun, without a name twice', async () => {
    const folder = new URL('../../contract/routes/', import.meta.url)
    const names: string[] = []
    for (const file of readdirSync(folder).filter((file) => file !== 'route.ts')) {
      const tables = (await import(new URL(file, folder).href)) as Record<string, Record<string, Route>>
      for (const table of Object.values(tables)) names.push(...Object.keys(table))
    }
    expect(names.toSorted()).toEqual(Object.keys(ROUTES).toSorted())
  })

  it('describes webhook deliveries with every response', () => {
    const { post } = (openApiDocument()['paths'] as Record<string, { post: Operation & { security: unknown[] } }>)[
      '/webhooks/{slug}/{secret}'
    ]!
    expect(post.security).toEqual([])
    expect(post.parameters.map(({ name }) => name)).toEqual(['slug', 'secret'])
    expect(Object.keys(post.responses).map(Number)).toEqual([200, 202, 400, 404, 408, 413, 415, 429, 500, 503])
    const codes = [
      'not_found',
      'rate_limited',
      'payload_too_large',
      'invalid_request',
      'trigger_has_no_agent',
      'job_creation_failed',
      'unsupported_media_type',
      'disk_full',
    ] as const
    for (const code of codes) expect(post.responses[ERROR_STATUS[code]]!.description).toContain(code)
  })
})
