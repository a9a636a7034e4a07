/** The part that the test server uses. The library ships no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Details = {
    uid: string
    prompt: {
      name: string
      details: { missingOIDCScope?: string[]; missingOIDCClaims?: string[]; missingResourceScopes?: Record<string, string[]> }
    }
    params: Record<string, string>
    session?: { accountId: string }
    grantId?: string
  }
  class Grant {
    constructor(given: { accountId: string; clientId: string })
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: string[]): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
  type Token = { accountId: string; isValid: boolean; aud?: string | string[]; scope?: string }
  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): RequestListener
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Details>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<void>
    on(event: string, listener: (...args: unknown[]) => void): void
    Grant: typeof Grant
    AccessToken: { find(token: string): Promise<Token | undefined> }
  }
}
