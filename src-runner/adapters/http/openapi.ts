import { z } from 'zod'
import { Agent, Limits, ModelRef } from '../../contract/agents.ts'
import { Conversation, Message } from '../../contract/conversations.ts'
import { ERROR_STATUS, ErrorBody, type ErrorCode } from '../../contract/errors.ts'
import { ChatReply, ChatStreamEvent, Job, JobChannel, JobStatus, JobSummary, Step } from '../../contract/jobs.ts'
import { FoundServer, Model, Price, Provider } from '../../contract/providers.ts'
import { ROUTES, type Route, type RouteName } from '../../contract/routes.ts'
import { Settings } from '../../contract/settings.ts'
import { SpendRow } from '../../contract/spend.ts'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'

type Json = Record<string, unknown>

/** Schemas with a name in the document, and so in generated clients. */
const NAMED = {
  Agent, ChatReply, ChatStreamEvent, Conversation, Error: ErrorBody, FoundServer, Job, JobChannel, JobStatus, JobSummary,
  Limits, Message, Model, ModelRef, Price, Provider, Settings, SpendRow, Step,
} // prettier-ignore

const names = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(NAMED)) names.add(schema, { id })

let made: Json | undefined

/** The runner's API as OpenAPI 3.1, generated from the route table. */
export function openApiDocument(): Json {
  // Zod's references lead to `$defs`.
  return (made ??= JSON.parse(JSON.stringify(makeDocument()).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json)
}

function makeDocument(): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const name of Object.keys(ROUTES) as RouteName[]) {
    const route: Route = ROUTES[name]
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    ;(paths[path] ??= {})[route.method.toLowerCase()] = operationOf(name, route, schemas)
  }
  paths['/webhooks/{slug}/{secret}'] = { post: DELIVERY }
  // No JSON body contains these: errors are references, and streams are described in words.
  schemaOf(ErrorBody, 'output', schemas)
  schemaOf(ChatStreamEvent, 'output', schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Deckhand runner',
      version: '1',
      description:
        'Runs the jobs of AI agents on this machine. In the mode local-trust only the worker route asks for a bearer; in local-auth and ' +
        'bearer-token everything does except health. In bearer-token, access tokens and sessions of accounts are accepted too: they reach one ' +
        'workspace, and things of others answer as if they did not exist. Requests from web pages are refused in every mode.',
    },
    servers: [{ url: 'http://127.0.0.1:3001' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        workerSecret: { type: 'http', scheme: 'bearer', description: 'The WORKER_SECRET of this installation.' },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token (dkh_…) or the session token of an account, in the mode bearer-token. It reaches one workspace.',
        },
      },
    },
  }
}

/** The errors of a delivery in the order in which they are checked. */
const DELIVERY_ERRORS: [code: ErrorCode, when: string][] = [
  ['not_found', 'No such webhook, a paused one, or a wrong secret or signature: always the same bytes.'],
  ['rate_limited', `More than ${FIRES_PER_HOUR} accepted deliveries within an hour. Retry-After says when the next one gets in.`],
  ['unsupported_media_type', 'A Content-Encoding.'],
  ['payload_too_large', 'More than 1,000,000 bytes.'],
  ['invalid_request', 'The body is not JSON.'],
  ['trigger_has_no_agent', 'No agent is attached to the webhook.'],
  ['placeholder_missing', 'The webhook refuses deliveries that leave a placeholder of its template empty, and this one does.'],
  ['job_creation_failed', 'Nothing was made. The delivery can be sent again from the inbox.'],
  ['request_timeout', 'The body did not come in time.'],
  ['too_many_deliveries', 'More is under way than can be held. Retry-After says when to come again.'],
  ['disk_full', 'Nothing can be kept right now.'],
  ['database_unavailable', 'Nothing can be kept right now.'],
  ['vault_unavailable', 'Signatures cannot be checked right now.'],
]

/** Deliveries are handled before the gate and the router, so they are not in the route table. */
const DELIVERY: Json = {
  operationId: 'deliverWebhook',
  summary: 'Fire the job of a webhook. The slug and the secret in the path are all that a sender needs; there is no other authentication.',
  security: [],
  parameters: ['slug', 'secret'].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  requestBody: {
    required: true,
    description: 'Any JSON, whatever its Content-Type says, at most 1,000,000 bytes however it is framed. Placeholders of the task template are looked up in it.',
    content: { 'application/json': { schema: {} } },
  },
  responses: {
    200: { description: 'The challenge of a signed url_verification of Slack.', content: { 'application/json': { schema: { type: 'object', required: ['challenge'], properties: { challenge: { type: 'string' } } } } } },
    202: {
      description: 'Accepted and kept. The job runs in the background. A repeat of a known delivery id is answered with its first job, and a ping of GitHub without one.',
      content: { 'application/json': { schema: { type: 'object', required: ['ok'], properties: { ok: { const: true }, jobId: { type: 'string', format: 'uuid' } } } } },
    },
    ...Object.fromEntries(
      Object.entries(Object.groupBy(DELIVERY_ERRORS, ([code]) => ERROR_STATUS[code])).map(([status, errors]) => [
        status,
        {
          description: errors.map(([code, when]) => `${code}: ${when}`).join(' '),
          content: errorContentOf(errors.map(([code]) => code)),
          ...(status === '429' || status === '503' ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } } } : {}),
        },
      ]),
    ),
  },
} // prettier-ignore

function errorContentOf(codes: ErrorCode[]): Json {
  return { 'application/json': { schema: { allOf: [{ $ref: '#/$defs/Error' }, { properties: { error: { enum: codes } } }] } } }
}

function operationOf(name: RouteName, route: Route, schemas: Json): Json {
  const operation: Json = {
    operationId: name,
    summary: route.summary,
    parameters: parametersOf(route, schemas),
    responses: responsesOf(route, schemas),
  }
  if (route.body !== undefined) {
    const required = !route.body.safeParse(undefined).success
    operation['requestBody'] = { required, content: { 'application/json': { schema: schemaOf(route.body, 'input', schemas) } } }
  }
  operation['security'] = securityOf(route)
  return operation
}

/** Choices. `{}` is nothing, which is enough in local-trust. */
function securityOf({ access, reach }: Route): Json[] {
  if (access === 'public') return []
  if (access === 'worker') return [{ workerSecret: [] }]
  return reach === 'machine' ? [{}, { workerSecret: [] }] : [{}, { workerSecret: [] }, { accessToken: [] }]
}

function parametersOf(route: Route, schemas: Json): Json[] {
  return (['path', 'query'] as const).flatMap((where) => {
    const shape = (where === 'path' ? route.params : route.query)?.shape ?? {}
    return Object.entries(shape).map(([name, schema]) => ({
      name,
      in: where,
      required: where === 'path' || !(schema as z.ZodType).safeParse(undefined).success,
      // What a value is after reading: text on the wire, numbers and lists by meaning. Lists are separated by commas.
      schema: schemaOf(schema as z.ZodType, 'output', schemas),
      ...(where === 'query' ? { style: 'form', explode: false } : {}),
    }))
  })
}

function responsesOf(route: Route, schemas: Json): Json {
  const success = route.stream
    ? { 'text/event-stream': { schema: { type: 'string', description: streamDescription(route) } } }
    : { 'application/json': { schema: schemaOf(route.answer, 'output', schemas) } }
  const responses: Json = { [route.status]: { description: 'Done.', content: success } }
  if (route.path === ROUTES.health.path) responses[503] = { description: 'The database cannot be reached.', content: success }
  for (const [status, codes] of Object.entries(Object.groupBy(errorsOf(route), (code) => ERROR_STATUS[code]))) {
    responses[status] ??= { description: `One of: ${codes.join(', ')}`, content: errorContentOf(codes) }
  }
  return responses
}

function streamDescription(route: Route): string {
  return route.path === ROUTES.streamEvents.path
    ? 'Server-sent events: `event` is the type of what happened, `data` its payload as JSON, `id` its place in the history.'
    : 'Server-sent events: `event` is the `type` of a ChatStreamEvent, `data` the rest of it as JSON.'
}

/** The route's own errors and those of the gate, the authentication and the parser. */
function errorsOf(route: Route): ErrorCode[] {
  const writes = route.method !== 'GET'
  const codes: ErrorCode[] = [
    ...(['forbidden_host', 'forbidden_origin', 'forbidden_forwarded', 'unknown_field', 'internal', 'database_unavailable'] as const),
    ...route.errors,
    ...(route.access === 'runner' ? (['unauthorized', 'sign_in_unavailable'] as const) : []),
    ...(route.access === 'runner' && route.reach === 'machine' ? (['owner_only'] as const) : []),
    ...(route.access === 'worker' ? (['invalid_worker_secret'] as const) : []),
    ...(writes || route.params !== undefined || route.query !== undefined ? (['invalid_request'] as const) : []),
    ...(writes ? (['unsupported_media_type', 'payload_too_large', 'request_timeout', 'disk_full'] as const) : []),
  ]
  return [...new Set(codes)]
}

/** A JSON schema; its named parts become components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _dialect,
    $defs,
    ...rest
  } = z.toJSONSchema(schema, { metadata: names, io, unrepresentable: 'any', override: io === 'input' ? withoutMore : undefined }) as Json
  for (const [id, definition] of Object.entries(($defs ?? {}) as Json)) schemas[id] ??= withoutId(definition as Json)
  const own = names.get(schema)?.id
  if (own === undefined) return rest
  schemas[own] ??= withoutId(rest)
  return { $ref: `#/$defs/${own}` }
}

/** Requests have no other fields: see `strict-schema.ts`. */
function withoutMore({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type === 'object' && jsonSchema.properties !== undefined) jsonSchema.additionalProperties = false
}

function withoutId({ id: _id, ...schema }: Json): Json {
  return schema
}
