import { createTestRunner, TEST_SECRET, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'
import { startOAuthServer, type OAuthServer, type OAuthServerOptions } from './oauth-server/oauth-server.ts'
import { createRunnerClient } from './runner-client.ts'
import type { Authorization, CreateAuthorization, Credential } from '../contract/credentials.ts'

export const APP_URL = 'http://127.0.0.1:3000'
export const SESSION = 'session of ada'

/** A runner and a service called `notes`, to which people can sign in. */
export type OAuthRig = {
  notes: OAuthServer
  runner: TestRunner
  /** Prepares a sign-in and sends a browser to the service. */
  begin(input?: Partial<CreateAuthorization>, session?: string): Promise<{ authorization: Authorization; url: string; state: string }>
  /** What the dashboard does with the address that leads back. */
  finish(
    authorizationId: string,
    back: URL | string,
    given?: { provider?: string; session?: string },
  ): Promise<{ status: number; body: { error?: string; authorization?: Authorization; detail?: { code: string } } }>
  /** Signs in as a person does. */
  signIn(input?: Partial<CreateAuthorization>): Promise<Credential>
  stop(): Promise<void>
}

export async function openOAuthRig(options: Partial<OAuthServerOptions> & { runner?: TestRunnerOptions } = {}): Promise<OAuthRig> {
  const redirectUris = ['notes', 'oauth2'].map((provider) => `${APP_URL}/api/oauth/${provider}/callback`)
  const notes = await startOAuthServer({ redirectUris, ...options })
  const runner = await createTestRunner({
    ...options.runner,
    config: { appUrl: APP_URL, ...options.runner?.config },
    findConnector: (slug) => (slug === 'notes' ? notes.connector(slug) : slug === 'generic-oauth2' ? generalConnector(notes) : null),
  })
  await runner.client.ok('updateSettings', { body: { openedHosts: [notes.host] } })
  const dashboard = () => createRunnerClient(runner.url, TEST_SECRET)
  const { clientId, clientSecret } = notes
  const rig: OAuthRig = {
    notes,
    runner,
    async begin(input = {}, session = SESSION) {
      const { authorization } = await runner.client.ok('createAuthorization', {
        body: { connector: 'notes', clientId, clientSecret, ...input },
      })
      const params = { authorizationId: authorization.id }
      const provider = authorization.redirectUri.split('/').at(-2)!
      return { authorization, ...(await dashboard().ok('beginAuthorization', { params, body: { provider, session } })) }
    },
    async finish(authorizationId, back, { provider = 'notes', session = SESSION } = {}) {
      const query = typeof back === 'string' ? back : back.search
      const { status, body } = await dashboard().ask('finishAuthorization', {
        params: { authorizationId },
        body: { provider, session, query },
      })
      return { status, body: body as Awaited<ReturnType<OAuthRig['finish']>>['body'] }
    },
    async signIn(input) {
      const { authorization, url } = await rig.begin(input)
      const provider = authorization.redirectUri.split('/').at(-2)!
      const { body } = await rig.finish(authorization.id, await notes.agree(url), { provider })
      if (body.authorization?.credentialId == null) throw new Error(`not signed in: ${JSON.stringify(body)}`)
      return (await runner.client.ok('getCredential', { params: { credentialId: body.authorization.credentialId } })).credential
    },
    async stop() {
      await runner.stop()
      await notes.stop()
    },
  }
  return rig
}

function generalConnector(notes: OAuthServer) {
  return { ...notes.connector('generic-oauth2'), hosts: [], oauth: null, account: null, scopes: [] }
}
