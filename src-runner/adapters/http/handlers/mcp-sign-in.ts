import type { Authorization, CreateAuthorization } from '../../../contract/credentials.ts'
import type { McpServer } from '../../../contract/mcp.ts'
import type { Message } from '../../../contract/messages.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { getMcpServer } from '../../../domain/mcp/mcp-servers.ts'
import {
  discoverSignIn,
  registerAt,
  SignInRefused,
  type SignInClient,
  type SignInPlace,
  type SignInProblem,
} from '../../../agent/mcp/discover-sign-in.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type GivenClient = Pick<CreateAuthorization, 'clientId' | 'clientSecret'>

/** A sign-in at an MCP server is a sign-in like any other, whose addresses come from the server. */
export function mcpSignInHandlers({ db, fetchGuarded, authorizations, clientMetadata }: HandlerDeps) {
  async function prepare({ id, name, transport }: McpServer, given: GivenClient): Promise<Authorization> {
    if (transport.kind === 'stdio') throw new AppError('authorization_refused', createMessage('mcp_sign_in_program', { server: name }))
    const redirectUri = authorizations.redirectUriOf({ connector: 'mcp', mcpServerId: id })
    let host = new URL(transport.url).host
    try {
      const place = await discoverSignIn(transport.url, fetchGuarded)
      host = new URL(place.endpoints.authorizationUrl).host
      const findMetadataAddress = () => clientMetadata.findClientId(id)
      const client = givenClient(place, given) ?? (await registerAt(place, { redirectUri, findMetadataAddress }, fetchGuarded))
      const { clientId, clientSecret, clientAuth } = client
      return await authorizations.create({
        connector: 'mcp',
        mcpServerId: id,
        method: 'browser',
        name,
        clientId,
        ...(clientSecret === null ? {} : { clientSecret }),
        endpoints: { ...place.endpoints, clientAuth },
        hosts: [new URL(transport.url).hostname],
        scopes: place.scopes,
        resource: place.resource,
      })
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      throw new AppError('authorization_refused', messageFor(error.problem, { server: name, host, redirectUri }), { cause: error })
    }
  }

  return {
    async signInToMcpServer({ params, body }) {
      return { authorization: await prepare(getMcpServer(db, params.mcpServerId), body) }
    },
  } satisfies Partial<Handlers>
}

/** null: the person entered none. */
function givenClient({ registration }: SignInPlace, { clientId, clientSecret: secret }: GivenClient): SignInClient | null {
  if (clientId === undefined) return null
  const clientSecret = secret ?? null
  const { auth } = registration
  return { clientId, clientSecret, clientAuth: clientSecret === null ? 'none' : auth === 'none' ? 'basic' : auth }
}

function messageFor(problem: SignInProblem, { server, host, redirectUri }: { server: string; host: string; redirectUri: string }): Message {
  switch (problem) {
    case 'none':
      return createMessage('mcp_sign_in_none', { server })
    case 'unsafe':
      return createMessage('mcp_sign_in_unsafe', { server })
    case 'unreachable':
      return createMessage('mcp_sign_in_unreachable', { server })
    case 'no_client':
      return createMessage('mcp_sign_in_no_client', { host, redirectUri })
    case 'no_address':
      return createMessage('mcp_sign_in_no_address', { host, redirectUri })
    case 'refused':
      return createMessage('mcp_sign_in_refused', { host, redirectUri })
  }
}
