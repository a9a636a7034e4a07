import { z } from 'zod'
import { CreateCredential, Credential } from '../credentials.ts'
import { Message } from '../messages.ts'
import { Id } from '../primitives.ts'
import { post } from './route.ts'

export const credentialKeyRoutes = {
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
    params: z.object({ credentialId: Id }),
    answer: z.object({ ok: z.boolean(), message: Message.nullable() }),
    errors: ['credential_not_found', 'vault_unavailable'],
  }),
}
