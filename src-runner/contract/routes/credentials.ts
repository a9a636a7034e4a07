import { z } from 'zod'
import { Credential, UpdateCredential } from '../credentials.ts'
import { Id } from '../primitives.ts'
import { del, get, patch } from './route.ts'

const credentialParams = z.object({ credentialId: Id })

export const credentialRoutes = {
  listCredentials: get('/api/credentials', {
    reach: 'workspace',
    summary: 'The connected accounts, newest first.',
    query: z.object({ agentId: Id.optional() }),
    answer: z.object({ credentials: z.array(Credential) }),
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
}
