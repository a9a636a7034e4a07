import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commitSoon, transact } from '../../platform/db/database.ts'
import type { Credential } from '../../contract/credentials.ts'
import { silentLog } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { createMemoryVault, type Vault } from '../../lib/vault.ts'
import { deleteAgent } from '../../execution/delete-agent.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { findDefaultEntity } from '../entities/entities.ts'
import { entities } from '../entities/entities-table.ts'
import { writeCredentialSecret, type CredentialSecret } from './credential-secret.ts'
import {
  deleteCredential,
  findCredentialOfMcpServer,
  getCredential,
  insertCredential,
  listCredentials,
  reconnectCredential,
  updateCredential,
  type NewCredential,
} from './credentials.ts'
import type { TokenSource } from './credentials-table.ts'
import { createCredentialStore, type CredentialStore, type Renew } from './use-credential.ts'

const ENDPOINTS: TokenSource = {
  issuer: null,
  authorizationUrl: 'https://id.example/authorize',
  tokenUrl: 'https://id.example/token',
  revocationUrl: null,
  deviceUrl: null,
  clientAuth: 'body',
  scopeSeparator: ' ',
  parameters: {},
  usesPkce: true,
  fields: {},
  namesItself: false,
}
const KEY: CredentialSecret = {
  kind: 'headers',
  headers: { Authorization: 'Bearer key-of-the-shop' },
  secrets: ['key-of-the-shop'],
  sentTo: ['api.shop.example'],
}
const TOKENS: CredentialSecret = {
  kind: 'tokens',
  accessToken: 'access-1',
  refreshToken: null,
  clientId: 'client',
  clientSecret: 'secret-of-the-client',
  sentTo: ['api.shop.example', new URL(ENDPOINTS.tokenUrl).origin],
}

/** The service refuses to renew. */
const renew: Renew = async () => ({ state: 'refused', problem: createMessage('credential_expired', { name: 'Shop' }) })

let rig: DomainRig
let vault: Vault
let store: CredentialStore
beforeEach(() => {
  rig = openDomainRig()
  vault = createMemoryVault()
  store = createCredentialStore({ db: rig.db, vault, clock: rig.clock, log: silentLog, renew })
})
afterEach(() => rig.close())

async function add(secret: CredentialSecret, more: Partial<NewCredential> = {}): Promise<Credential> {
  const id = rig.ids.next()
  await writeCredentialSecret(vault, id, secret)
  const isToken = secret.kind === 'tokens'
  const kind = isToken ? ({ kind: 'oauth2', endpoints: ENDPOINTS } as const) : ({ kind: 'api_key' } as const)
  const fixed = { id, entityId: findDefaultEntity(rig.db).id, connector: 'shop', name: 'Shop', accountName: 'ada@shop.example' }
  return transact(rig.db, (tx) =>
    insertCredential(tx, rig, { ...fixed, ...kind, hosts: ['api.shop.example'], scopes: [], agents: [], ...more }),
  )
}

describe('a connected account', () => {
  it('is used by the agents that may, and does not exist for others', async () => {
    const [reader, writer, other] = ['Reader', 'Writer', 'Other'].map((name) => rig.addAgent(name))
    const { id } = await add(KEY, {
      agents: [
        { agentId: reader!.id, access: 'read' },
        { agentId: writer!.id, access: 'write' },
      ],
    })
    await expect(store.use(id, reader!.id, 'read')).resolves.toEqual({
      headers: { authorization: 'Bearer key-of-the-shop' },
      secrets: ['key-of-the-shop'],
      hosts: ['api.shop.example'],
      connector: 'shop',
      name: 'Shop',
      accountName: 'ada@shop.example',
    })
    await expect(store.use(id, reader!.id, 'write')).rejects.toMatchObject({ code: 'credential_refused' })
    await expect(store.use(id, writer!.id, 'write')).resolves.toBeDefined()
    const unknown = await store.use(rig.ids.next(), other!.id, 'read').catch(String)
    expect(await store.use(id, other!.id, 'read').catch(String)).toBe(unknown)
    expect(listCredentials(rig.db, { agentId: reader!.id }).map((one) => one.id)).toEqual([id])
    expect(listCredentials(rig.db, { agentId: other!.id })).toEqual([])
  })

  it('is taken away from an agent at once, also while its secret is being read', async () => {
    const agent = rig.addAgent('Ada')
    const { id } = await add(KEY, { agents: [{ agentId: agent.id, access: 'read' }] })
    const slow: Vault = {
      ...vault,
      async get(key) {
        transact(rig.db, (tx) => updateCredential(tx, id, { agents: [] }))
        return vault.get(key)
      },
    }
    const store = createCredentialStore({ db: rig.db, vault: slow, clock: rig.clock, log: silentLog, renew })
    await expect(store.use(id, agent.id, 'read')).rejects.toMatchObject({ code: 'credential_not_found' })
  })

  it('is not shared with agents of another workspace', async () => {
    const ada = rig.addAgent('Ada')
    const elsewhere = rig.ids.next()
    transact(rig.db, (tx) => tx.insert(entities).values({ id: elsewhere, name: 'Bo', isDefault: false, createdAt: rig.clock.now() }).run())
    const agents = [{ agentId: ada.id, access: 'read' as const }]
    await expect(add(KEY, { entityId: elsewhere, agents })).rejects.toMatchObject({ code: 'agent_not_found' })
    expect(listCredentials(rig.db, { entityId: elsewhere })).toEqual([])
  })

  it('is no longer of an agent that is deleted, and goes with its grants', async () => {
    const agent = rig.addAgent('Ada')
    rig.addAgent('Bo')
    const { id } = await add(KEY, { agents: [{ agentId: agent.id, access: 'read' }] })
    transact(rig.db, (tx) => deleteAgent(tx, { clock: rig.clock, jobs: rig.store }, agent.id))
    expect(getCredential(rig.db, id).agents).toEqual([])
    transact(rig.db, (tx) => deleteCredential(tx, id))
    await expect(store.use(id, null, 'read')).rejects.toMatchObject({ code: 'credential_not_found' })
  })

  it('asks the person to sign in when its key is refused, its token is over, or its secret is gone', async () => {
    const [refused, over, gone] = [await add(KEY), await add(TOKENS, { expiresAt: rig.clock.now() + 90_000 }), await add(TOKENS)]
    await store.use(refused.id, null, 'read')
    await expect(store.use(refused.id, null, 'read', { refused: ['key-of-the-shop'] })).rejects.toMatchObject({
      code: 'credential_refused',
    })
    await expect(store.use(over.id, null, 'read')).resolves.toMatchObject({ headers: { authorization: 'Bearer access-1' } })
    rig.clock.advance(30_000)
    await expect(store.use(over.id, null, 'read')).rejects.toMatchObject({ code: 'credential_refused' })
    await vault.delete(`credential:${gone.id}`)
    await expect(store.use(gone.id, null, 'read')).rejects.toMatchObject({ code: 'credential_refused' })
    const shown = listCredentials(rig.db).map(({ id, status, problem }) => ({ id, status, code: problem?.code }))
    expect(shown).toEqual([
      { id: gone.id, status: 'needs_sign_in', code: 'credential_secret_gone' },
      { id: over.id, status: 'needs_sign_in', code: 'credential_expired' },
      { id: refused.id, status: 'needs_sign_in', code: 'credential_key_refused' },
    ])
    transact(rig.db, (tx) => reconnectCredential(tx, over.id, { expiresAt: null }))
    await expect(store.use(over.id, null, 'read')).resolves.toBeDefined()
  })

  it.each([
    ['key', KEY],
    ['token', TOKENS],
  ])('does not send its %s to hosts that it was not given for', async (_, secret) => {
    const { id } = await add(secret, { hosts: ['api.shop.example', 'api.former.example'] })
    await expect(store.use(id, null, 'read')).rejects.toMatchObject({ code: 'credential_refused' })
    expect(getCredential(rig.db, id).problem).toMatchObject({ code: 'credential_secret_gone' })
  })

  it('remembers its last use to the minute', async () => {
    const { id } = await add(KEY)
    const used = async () => {
      await store.use(id, null, 'read')
      // The note shares this commit.
      await commitSoon(rig.db, () => undefined)
      return getCredential(rig.db, id).lastUsedAt
    }
    const first = await used()
    rig.clock.advance(59_000)
    expect(await used()).toBe(first)
    rig.clock.advance(1000)
    expect(await used()).toBe(first! + 60_000)
  })

  it('belongs to one MCP server at most', async () => {
    const mcpServerId = rig.ids.next()
    const { id } = await add(TOKENS, { mcpServerId })
    expect(findCredentialOfMcpServer(rig.db, mcpServerId)?.id).toBe(id)
    await expect(add(TOKENS, { mcpServerId })).rejects.toThrow('UNIQUE')
  })
})
