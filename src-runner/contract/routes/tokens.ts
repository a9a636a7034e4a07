import { z } from 'zod'
import { Id, NextCursor, ShortListQuery } from '../primitives.ts'
import { AccessToken, CreateToken } from '../tokens.ts'
import { del, get, Nothing, post } from './route.ts'

export const tokenRoutes = {
  listTokens: get('/api/tokens', {
    // A token of the dashboard belongs to the installation, so it would outlive a member's account.
    ownerOnly: true,
    reach: 'workspace',
    summary: 'Access tokens that are not revoked, newest first. `accepted`: the runner accepts them, because AUTH_MODE is bearer-token.',
    query: ShortListQuery,
    answer: z.object({ tokens: z.array(AccessToken), accepted: z.boolean(), nextCursor: NextCursor }),
    shows: ['tokens'],
  }),
  createToken: post('/api/tokens', {
    ownerOnly: true,
    reach: 'workspace',
    summary: 'Create an access token for an API client. The token is returned only here. It reaches one workspace, and creates no tokens.',
    body: CreateToken,
    status: 201,
    answer: z.object({ accessToken: AccessToken, token: z.string() }),
    errors: ['entity_not_found', 'owner_only'],
  }),
  revokeToken: del('/api/tokens/:tokenId', {
    ownerOnly: true,
    reach: 'workspace',
    summary: 'Revoke an access token. It is refused from its next request on.',
    params: z.object({ tokenId: Id }),
    answer: Nothing,
    errors: ['token_not_found'],
  }),
}
