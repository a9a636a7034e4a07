import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Connector, type LocalText } from '../../contract/connectors.ts'
import type { CreateAuthorization } from '../../contract/credentials.ts'
import { createTestRunner, TEST_SECRET } from '../../testing/create-test-runner.ts'
import { createRunnerClient } from '../../testing/runner-client.ts'
import { fillIn, findConnector, isGeneral, listConnectors } from './connectors.ts'

const FOLDER = new URL('../../../resources/connectors/', import.meta.url)
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))

function textsOf(connector: Connector): LocalText[] {
  const { description, localName, scopes, fields, steps, keySteps } = connector
  return [
    ...[description, localName].filter((text) => text !== null),
    ...scopes.map(({ words }) => words),
    ...fields.map(({ label }) => label),
    ...steps,
    ...keySteps,
  ]
}

function addressesOf({ oauth, account, docsUrl, setUpUrl, keyUrl }: Connector): string[] {
  const ofSignIn = oauth === null ? [] : [oauth.issuer, oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl, oauth.deviceUrl]
  return [...ofSignIn, account?.url, docsUrl, setUpUrl, keyUrl].filter(
    (address) => typeof address === 'string' && address !== '',
  ) as string[]
}

function isCovered(host: string, hosts: readonly string[]): boolean {
  return hosts.some((one) => one === host || (one.startsWith('*.') && host.split('.').slice(1).join('.') === one.slice(2)))
}

describe('the catalogue', () => {
  it('holds every file, named like its connector, with no field unknown', () => {
    expect(
      listConnectors()
        .map(({ slug }) => `${slug}.json`)
        .sort(),
    ).toEqual(files.sort())
    for (const name of files) {
      const file = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Record<string, unknown>
      expect(`${String(file.slug)}.json`).toBe(name)
      expect(Connector.strict().safeParse(file).error?.issues).toBeUndefined()
    }
  })

  it('is sorted by name, the general ones last', () => {
    const order = listConnectors().map((one) => ({ slug: one.slug, key: `${isGeneral(one) ? 1 : 0} ${one.name.toLowerCase()}` }))
    expect(order.map(({ slug }) => slug)).toEqual(order.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ slug }) => slug))
  })

  it('protects every sign-in with PKCE, except at services that rule it out', () => {
    const without = listConnectors().filter(({ oauth }) => oauth?.usesPkce === false)
    expect(without.map(({ slug }) => slug)).toEqual(['atlassian', 'notion'])
  })

  it.each(listConnectors().map((connector) => [connector.slug, connector] as const))('describes %s completely', (_slug, connector) => {
    const { kind, oauth, scopes, account, hosts, keyHeader, steps, keySteps } = connector
    for (const address of addressesOf(connector)) expect(new URL(fillIn(address, connector, {})).protocol).toBe('https:')
    const filled = hosts.map((host) => fillIn(host, connector, {}))
    for (const host of filled) expect(host).toMatch(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/)
    if (account !== null) expect(isCovered(new URL(fillIn(account.url, connector, {})).hostname, filled)).toBe(true)
    // What a service names its account by is asked for before a person relies on the connection.
    expect(account !== null).toBe(!isGeneral(connector))

    expect(new Set(scopes.map(({ scope }) => scope)).size).toBe(scopes.length)
    for (const { en, de } of textsOf(connector)) {
      expect(de).not.toBe(en)
      expect(de.includes('{redirectUri}')).toBe(en.includes('{redirectUri}'))
      // The words are shown beside each other, so neither has a line break or markup.
      expect(en + de).not.toMatch(/[\n<>]/)
    }
    if (kind === 'oauth2' && !isGeneral(connector)) expect(oauth).not.toBeNull()
    if (kind === 'oauth2') expect(steps.some(({ en }) => en.includes('{redirectUri}'))).toBe(true)
    if (kind === 'api_key' && !isGeneral(connector)) expect(keyHeader).not.toBeNull()
    if (keyHeader !== null) expect(keyHeader.value).toContain('{key}')
    expect(keySteps.length > 0).toBe(kind === 'oauth2' && keyHeader !== null)
  })

  it('is served to a page, small enough for one', async () => {
    const runner = await createTestRunner()
    onTestFinished(() => runner.stop())
    const { connectors } = await runner.client.ok('listConnectors')
    expect(JSON.stringify(connectors).length).toBeLessThan(150_000)
    expect(connectors).toMatchObject(listConnectors())
    expect(connectors.find(({ slug }) => slug === 'github')).toMatchObject({ reads: { get: true }, fields: [] })
  })

  it.each(['http://127.0.0.1:3000', 'https://deck.example.org'])(
    'lists the redirect URI that a sign-in then sends, under %s',
    async (appUrl) => {
      const runner = await createTestRunner({ config: { appUrl } })
      onTestFinished(() => runner.stop())
      const { connectors } = await runner.client.ok('listConnectors')
      const uriOf = (slug: string) => connectors.find((connector) => connector.slug === slug)!.redirectUri
      expect(uriOf('slack')).toBeNull()
      const endpoints = { authorizationUrl: 'https://id.example.org/a', tokenUrl: 'https://id.example.org/t' }
      const services: [string, string, Partial<CreateAuthorization>][] = [
        ['github', 'github', {}],
        ['generic-oauth2', 'oauth2', { endpoints, hosts: ['api.example.org'] }],
      ]
      for (const [connector, provider, more] of services) {
        const { authorization } = await runner.client.ok('createAuthorization', { body: { connector, clientId: 'a', ...more } })
        const params = { authorizationId: authorization.id }
        const begun = await createRunnerClient(runner.url, TEST_SECRET).ok('beginAuthorization', {
          params,
          body: { provider, session: 'a' },
        })
        const sent = new URL(begun.url).searchParams.get('redirect_uri')
        expect([sent, uriOf(connector)]).toEqual(Array(2).fill(`${appUrl}/api/oauth/${provider}/callback`))
      }
    },
  )

  it('finds a connector by its slug', () => {
    expect(findConnector('github')?.name).toBe('GitHub')
    expect(findConnector('__proto__')).toBeNull()
  })
})
