import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { ErrorCode, ErrorIssue } from '../../src-runner/contract/errors.ts'
import { AUTH_ROUTES, type AuthRouteName, type AuthRoutes } from '../contract/auth-api.ts'
import type { Accounts } from '../sign-in/accounts.ts'
import type { Refused } from '../sign-in/auth-people.ts'
import type { Client } from '../sign-in/auth-sessions.ts'
import type { Caller } from './access.ts'
import { readBody } from './requests.ts'
import { json, refusal, type DashboardResponse } from './responses.ts'

type Part<N extends AuthRouteName, K extends 'params' | 'body'> =
  AuthRoutes[N] extends Record<K, infer S extends z.ZodType> ? z.output<S> : undefined
type Ask<N extends AuthRouteName> = {
  accounts: Accounts
  params: Part<N, 'params'>
  body: Part<N, 'body'>
  /** null only on public routes. */
  caller: Caller | null
  client: Client
  /** A script, which has no cookie jar that JavaScript cannot read. */
  isScript: boolean
}
type Answer<N extends AuthRouteName> = { answer: z.input<AuthRoutes[N]['answer']>; cookies?: string[] }
type Handlers = { [N in AuthRouteName]: (ask: Ask<N>) => Promise<Answer<N> | Refused<ErrorCode>> | Answer<N> | Refused<ErrorCode> }

const OK = { answer: { ok: true as const } }
const NOBODY = { person: null, cookies: [] }

const HANDLERS: Handlers = {
  async getSignIn({ accounts, caller, client }) {
    const { person, cookies } = caller?.kind === 'person' ? await accounts.refresh(client) : NOBODY
    // It is a path of this machine.
    const damagedFile = caller !== null && ownOnly(caller) === null ? accounts.damagedFile : null
    return { answer: { person, hasOwner: accounts.hasOwner(), damagedFile }, cookies }
  },
  async signIn({ accounts, body, client, isScript }) {
    const welcome = await accounts.signIn(body.username, body.password, client)
    if ('refused' in welcome) return welcome
    const { person, pageKey, token, cookies } = welcome
    return { answer: isScript ? { person, pageKey, token } : { person, pageKey }, cookies }
  },
  checkLink: ({ accounts, body }) => {
    const link = accounts.checkLink(body.link)
    return link === null ? { refused: 'link_not_valid' } : { answer: link }
  },
  async signUp({ accounts, body: { link, ...person }, client }) {
    const welcome = await accounts.signUp(link, person, client)
    if ('refused' in welcome) return welcome
    return { answer: { person: welcome.person, pageKey: welcome.pageKey }, cookies: welcome.cookies }
  },
  signOut: async ({ accounts, client }) => ({ ...OK, ...(await accounts.signOut(client)) }),
  async changePassword({ accounts, body, caller, client }) {
    if (caller?.kind !== 'person') return { refused: 'unauthorized' }
    const changed = await accounts.changePassword(body, caller.person, client)
    return 'refused' in changed ? changed : { answer: { pageKey: changed.pageKey }, cookies: changed.cookies }
  },
  async createOwner({ accounts, body, caller }) {
    if (caller?.kind !== 'window') return { refused: 'not_found' }
    const created = await accounts.createOwner(body)
    return 'refused' in created ? created : { answer: { person: created } }
  },
  listDevices: ({ accounts, caller }) => ({
    answer: {
      devices: accounts.listDevices({ personId: ownOnly(caller), thisDevice: caller?.kind === 'person' ? caller.deviceId : null }),
    },
  }),
  signOutDevice: ({ accounts, params, caller }) =>
    accounts.signOutDevice(params.deviceId, ownOnly(caller)) ? OK : { refused: 'device_not_found' },
  listPeople: ({ accounts }) => ({ answer: { people: accounts.listPeople(), invitations: accounts.listInvitations() } }),
  changePerson: ({ accounts, params, body }) => {
    const changed = accounts.changeRole(params.personId, body.role)
    return 'refused' in changed ? changed : { answer: { person: changed } }
  },
  async resetPassword({ accounts, params, body, caller }) {
    // Only the window proves access to the machine, and with it to the data folder.
    if (caller?.kind !== 'window') return { refused: 'not_found' }
    return (await accounts.resetPassword(params.personId, body.password)) ?? OK
  },
  removePerson: ({ accounts, params }) => accounts.removePerson(params.personId) ?? OK,
  invite: ({ accounts, body, caller }) => ({ answer: accounts.invite(body.role, caller?.kind === 'person' ? caller.person : null) }),
  withdrawInvitation: ({ accounts, params }) =>
    accounts.withdrawInvitation(params.invitationId) ? OK : { refused: 'invitation_not_found' },
}

/** A member sees their own devices. null: everybody's. */
function ownOnly(caller: Caller | null): string | null {
  return caller?.kind === 'person' && caller.person.role !== 'owner' ? caller.person.id : null
}

export type AuthCall = { params: Record<string, string>; body: Readable | null; caller: Caller | null; client: Client; isScript: boolean }

/** Answers a route of accounts and sign-in. The caller is allowed to call it already. */
export async function answerAuthRoute(name: AuthRouteName, accounts: Accounts, call: AuthCall): Promise<DashboardResponse> {
  const route: { params?: z.ZodType; body?: z.ZodType; status: number } = AUTH_ROUTES[name]
  const text = await readBody(call.body)
  if (text === null) return refusal('payload_too_large')
  const params = route.params?.safeParse(call.params)
  const body = route.body?.safeParse(parseJson(text))
  for (const [where, part] of [
    ['', params],
    ['body.', body],
  ] as const) {
    if (part?.success === false)
      return refusal('invalid_request', 'The request is invalid.', { issues: part.error.issues.map((issue) => issueOf(where, issue)) })
  }
  const handle = HANDLERS[name] as (ask: object) => Promise<Answer<AuthRouteName> | Refused<ErrorCode>>
  const result = await handle({ ...call, accounts, params: params?.data, body: body?.data })
  if ('refused' in result) {
    const refused = refusal(result.refused)
    if (result.retryAfterMs !== undefined) refused.headers['retry-after'] = String(Math.ceil(result.retryAfterMs / 1000))
    return refused
  }
  const response = json(route.status, result.answer)
  if (result.cookies !== undefined && result.cookies.length > 0) response.headers['set-cookie'] = result.cookies
  return response
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Without what was sent. */
function issueOf(where: string, issue: z.core.$ZodIssue): ErrorIssue {
  const path = where + issue.path.map(String).join('.')
  if (issue.code === 'too_small')
    return { path, message: `Must have at least ${issue.minimum} characters.`, kind: 'too_short', limit: Number(issue.minimum) }
  if (issue.code === 'too_big')
    return { path, message: `Must have at most ${issue.maximum} characters.`, kind: 'too_long', limit: Number(issue.maximum) }
  if (issue.code === 'invalid_type') return { path, message: 'Is missing or of the wrong kind.', kind: 'wrong_kind' }
  return { path, message: 'Has the wrong format.', kind: 'wrong_shape' }
}
