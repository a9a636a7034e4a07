import { z } from 'zod'
import { Authorization, CreateAuthorization, CreateCredential, Credential, UpdateCredential } from '../credentials.ts'
import { Message } from '../messages.ts'
import { Id, NextCursor, ShortListQuery } from '../primitives.ts'
import { del, get, patch, post } from './route.ts'

const authorizationParams = z.object({ authorizationId: Id })
/** The part of the redirect address that says what is connected: the slug of a connector, `oauth2`, or an MCP server. */
const Provider = z.string().min(1).max(100)
/** Whose browser it is. The dashboard gives the same text at the beginning and at the end. */
const Session = z.string().min(1).max(500)
const credentialParams = z.object({ credentialId: Id })

export const credentialRoutes = {
  listCredentials: get('/api/credentials', {
    reach: 'workspace',
    summary: 'The connected accounts, newest first.',
    query: ShortListQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ credentials: z.array(Credential), nextCursor: NextCursor }),
    shows: ['credentials'],
  }),
  getCredential: get('/api/credentials/:credentialId', {
    reach: 'workspace',
    summary: 'One connected account.',
    params: credentialParams,
    answer: z.object({ credential: Credential }),
    errors: ['credential_not_found'],
    shows: ['credentials'],
  }),
  updateCredential: patch('/api/credentials/:credentialId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Rename a connected account, or say which agents may use it and how.',
    params: credentialParams,
    body: UpdateCredential,
    answer: z.object({ credential: Credential }),
    errors: ['credential_not_found', 'agent_not_found'],
  }),
  deleteCredential: del('/api/credentials/:credentialId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Disconnect an account: revoke its tokens at the service and delete them. `revoked` null: the service has no way to revoke.',
    params: credentialParams,
    answer: z.object({ ok: z.literal(true), revoked: z.boolean().nullable() }),
    errors: ['credential_not_found', 'vault_unavailable'],
  }),
  createCredential: post('/api/credentials', {
    ownerOnly: true,
    reach: 'machine',
    summary:
      'Connect an account by a key, a password or a header, or give a connected one a new key. The service is asked about it before anything is stored.',
    body: CreateCredential,
    status: 201,
    answer: z.object({ credential: Credential }),
    errors: ['connector_not_found', 'credential_not_found', 'agent_not_found', 'credential_refused', 'vault_unavailable'],
  }),
  testCredential: post('/api/credentials/:credentialId/test', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Ask the service whether it accepts the account.',
    params: credentialParams,
    answer: z.object({ ok: z.boolean(), message: Message.nullable() }),
    errors: ['credential_not_found', 'vault_unavailable'],
  }),
  createAuthorization: post('/api/authorizations', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Prepare a sign-in at a service. A browser is then sent to `POST /api/oauth/:provider/start` of the dashboard.',
    body: CreateAuthorization,
    status: 201,
    answer: z.object({ authorization: Authorization }),
    errors: ['connector_not_found', 'credential_not_found', 'authorization_refused', 'vault_unavailable'],
  }),
  getAuthorization: get('/api/authorizations/:authorizationId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'How far a sign-in is.',
    params: authorizationParams,
    answer: z.object({ authorization: Authorization }),
    errors: ['authorization_not_found'],
    shows: ['authorization'],
  }),
  cancelAuthorization: post('/api/authorizations/:authorizationId/cancel', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Stop waiting for a sign-in.',
    params: authorizationParams,
    answer: z.object({ authorization: Authorization }),
    errors: ['authorization_not_found'],
  }),
  finishPastedAuthorization: post('/api/authorizations/:authorizationId/redirected', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Finish a sign-in by the address at which the browser ended, if that browser cannot open it.',
    params: authorizationParams,
    body: z.object({ address: z.string().trim().min(1).max(10_000) }),
    answer: z.object({ authorization: Authorization }),
    errors: ['authorization_not_found', 'authorization_refused', 'authorization_over', 'vault_unavailable'],
  }),
  beginAuthorization: post('/api/authorizations/:authorizationId/begin', {
    access: 'worker',
    reach: 'machine',
    summary: 'For the dashboard: where to send the browser, and the state that it comes back with.',
    params: authorizationParams,
    body: z.object({ provider: Provider, session: Session }),
    answer: z.object({ url: z.string(), state: z.string() }),
    errors: ['authorization_not_found', 'authorization_over', 'vault_unavailable'],
  }),
  finishAuthorization: post('/api/authorizations/:authorizationId/finish', {
    access: 'worker',
    reach: 'machine',
    summary: 'For the dashboard: the answer of the service. It counts once.',
    params: authorizationParams,
    body: z.object({ provider: Provider, session: Session, query: z.string().max(20_000) }),
    answer: z.object({ authorization: Authorization }),
    errors: ['authorization_refused', 'authorization_over', 'vault_unavailable'],
  }),
}
