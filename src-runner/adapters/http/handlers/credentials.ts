import { transact } from '../../../platform/db/database.ts'
import { getCredential, listCredentials, updateCredential } from '../../../domain/credentials/credentials.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function credentialHandlers({ db, authorizations }: HandlerDeps) {
  return {
    listCredentials({ query }, { caller }) {
      const listed = listCredentials(db, { agentId: query.agentId, entityId: caller.entityId })
      const { items: credentials, nextCursor } = pageOfList(listed, query, ({ id }) => id)
      return { credentials, nextCursor }
    },
    getCredential: ({ params }) => ({ credential: getCredential(db, params.credentialId) }),

    updateCredential: ({ params, body }) => ({ credential: transact(db, (tx) => updateCredential(tx, params.credentialId, body)) }),

    deleteCredential: async ({ params }) => ({ ok: true, revoked: await authorizations.disconnect(params.credentialId) }),

    createAuthorization: async ({ body }) => ({ authorization: await authorizations.create(body) }),
    getAuthorization: ({ params }) => ({ authorization: authorizations.read(params.authorizationId) }),
    cancelAuthorization: async ({ params }) => ({ authorization: await authorizations.cancel(params.authorizationId) }),
    finishPastedAuthorization: async ({ params, body }) => ({
      authorization: await authorizations.finishPasted(params.authorizationId, body.address),
    }),
    beginAuthorization: ({ params, body }) => authorizations.begin(params.authorizationId, body),
    finishAuthorization: async ({ params, body }) => ({ authorization: await authorizations.finish(params.authorizationId, body) }),
  } satisfies Partial<Handlers>
}
