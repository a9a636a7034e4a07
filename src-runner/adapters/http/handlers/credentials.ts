import { transact } from '../../../platform/db/transact.ts'
import { credentialKey } from '../../../lib/vault.ts'
import { deleteCredential, getCredential, listCredentials, updateCredential } from '../../../domain/credentials/credentials.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function credentialHandlers({ db, vault }: HandlerDeps) {
  return {
    listCredentials: ({ query }, { caller }) => ({ credentials: listCredentials(db, { ...query, entityId: caller.entityId }) }),
    getCredential: ({ params }) => ({ credential: getCredential(db, params.credentialId) }),

    updateCredential: ({ params, body }) => ({ credential: transact(db, (tx) => updateCredential(tx, params.credentialId, body)) }),

    async deleteCredential({ params: { credentialId } }) {
      getCredential(db, credentialId)
      // First the secret: a row without it is shown and can be deleted again, a secret without its row is never found.
      await vault.delete(credentialKey(credentialId))
      transact(db, (tx) => deleteCredential(tx, credentialId))
      return { ok: true, revoked: null }
    },
  } satisfies Partial<Handlers>
}
