import { transact } from '../../../platform/db/database.ts'
import { GuardedFetchError } from '../../../platform/net/guarded-fetch.ts'
import type { Connector } from '../../../contract/connectors.ts'
import type { CreateCredential } from '../../../contract/credentials.ts'
import type { Message } from '../../../contract/messages.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { credentialKey } from '../../../lib/vault.ts'
import { findConnector, isGeneral, nameFor } from '../../../domain/connectors/connectors.ts'
import { readKey, type KeySignIn } from '../../../domain/credentials/read-key.ts'
import { getCredential, insertCredential, reconnectCredential, updateCredential } from '../../../domain/credentials/credentials.ts'
import type { CredentialSecret } from '../../../domain/credentials/credential-secret.ts'
import { findDefaultEntity } from '../../../domain/entities/entities.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { callAccount, type AccountAnswer } from '../../../execution/account-call.ts'
import type { Handlers } from '../handler.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

/** Accounts that are connected by a key, a password or a header. */
export function credentialKeyHandlers({ db, clock, ids, vault, log, credentials, fetchGuarded: fetch }: HandlerDeps) {
  /** Returns what the service calls the account. Throws AppError credential_refused. */
  async function prove(connector: Connector, signIn: KeySignIn): Promise<string | null> {
    let answer: AccountAnswer | null
    try {
      answer = await callAccount(fetch, connector, signIn)
    } catch (error) {
      throw error instanceof GuardedFetchError ? new AppError('credential_refused', unreachable(connector, error)) : error
    }
    const problem = answer === null ? null : problemIn(answer, connector)
    if (problem !== null) throw new AppError('credential_refused', problem)
    return answer?.accountName ?? null
  }

  async function replaceKey(credentialId: string, input: CreateCredential) {
    const before = getCredential(db, credentialId)
    const signIn = readKey({ ...input, connector: before.connector, hosts: input.hosts ?? before.hosts }, readSettings(db).openedHosts)
    if (signIn.kind !== before.kind) throw new AppError('credential_refused', createMessage('credential_other_kind', { name: before.name }))
    // The hosts of a domain of its own stay, too.
    const hosts = input.fields === undefined && !isGeneral(signIn.connector) ? before.hosts : signIn.hosts
    const accountName = await prove(signIn.connector, { ...signIn, hosts })
    return writeWithSecret({ vault, log }, credentialKey(credentialId), secretOf(signIn, hosts), () =>
      transact(db, (tx) => {
        const { name, agents } = input
        if (name !== undefined || agents !== undefined) updateCredential(tx, credentialId, { name, agents })
        return reconnectCredential(tx, credentialId, { accountName, hosts })
      }),
    )
  }

  return {
    async createCredential({ body }) {
      if (body.credentialId !== undefined) return { credential: await replaceKey(body.credentialId, body) }
      const signIn = readKey(body, readSettings(db).openedHosts)
      const { connector, kind, hosts } = signIn
      const accountName = await prove(connector, signIn)
      const id = ids.next()
      const { entityId = findDefaultEntity(db).id, name = nameFor(connector, hosts), agents = [] } = body
      const row = { id, entityId, connector: connector.slug, kind, name, accountName, hosts, scopes: [], agents }
      const credential = await writeWithSecret({ vault, log }, credentialKey(id), secretOf(signIn, hosts), () =>
        transact(db, (tx) => insertCredential(tx, { clock }, row)),
      )
      return { credential }
    },

    async testCredential({ params: { credentialId } }) {
      const credential = getCredential(db, credentialId)
      const connector = findConnector(credential.connector)
      const failed = (message: Message) => ({ ok: false, message })
      try {
        for (let refused: readonly string[] | undefined; ;) {
          const signIn = await credentials.use(credentialId, null, 'read', refused === undefined ? {} : { refused })
          const answer = connector === null ? null : await callAccount(fetch, connector, signIn)
          if (connector === null || answer === null) return { ok: true, message: createMessage('credential_untested') }
          const problem = problemIn(answer, connector)
          if (problem === null) return { ok: true, message: null }
          // An expired token is renewed once; a key that is refused ends the sign-in.
          if (answer.status !== 401 || refused !== undefined) return failed(problem)
          refused = signIn.secrets
        }
      } catch (error) {
        if (error instanceof AppError && error.code === 'credential_refused') return failed(problemOf(error))
        if (error instanceof GuardedFetchError) return failed(unreachable({ name: connector?.name ?? credential.name }, error))
        throw error
      }
    },
  } satisfies Partial<Handlers>
}

function problemIn({ status, isProven }: AccountAnswer, { name: service }: Connector): Message | null {
  if (isProven) return null
  return status >= 300 && status !== 401 && status !== 403
    ? createMessage('credential_answered', { service, status: String(status) })
    : createMessage('credential_not_accepted', { service })
}

function unreachable({ name: service }: { name: string }, { message }: GuardedFetchError): Message {
  return createMessage('credential_unreachable', { service, words: message })
}

function secretOf({ headers, secrets }: KeySignIn, sentTo: string[]): string {
  return JSON.stringify({ kind: 'headers', headers, secrets, sentTo } satisfies CredentialSecret)
}
