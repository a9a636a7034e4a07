import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Message } from '../../contract/messages.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { authorizationKey } from '../../lib/vault.ts'
import { endAuthorization, listExpired, listInterrupted, pruneAuthorizations } from '../../domain/credentials/authorizations.ts'

export type AuthorizationCleanup = ReturnType<typeof createAuthorizationCleanup>

/** Ends sign-ins that came to nothing, and deletes the secrets of those that are over. */
export function createAuthorizationCleanup({ db, vault, clock, log }: Pick<Services, 'db' | 'vault' | 'clock' | 'log'>) {
  function fail(authorizationId: string, problem: Message): void {
    transact(db, (tx) => endAuthorization(tx, authorizationId, 'failed', { problem }))
  }

  async function forgetSecret(authorizationId: string): Promise<void> {
    await vault.delete(authorizationKey(authorizationId)).catch((error: unknown) => {
      log.warn({ error: messageOf(error), authorizationId }, 'could not delete the secrets of a sign-in')
    })
  }

  return {
    fail,
    forgetSecret,
    /** Ends sign-ins whose time is over. */
    async endOld(): Promise<void> {
      const expired = listExpired(db, clock.now())
      transact(db, (tx) => {
        for (const { id } of expired) endAuthorization(tx, id, 'expired', { problem: createMessage('oauth_expired') })
        pruneAuthorizations(tx, clock.now())
      })
      for (const { id } of expired) await forgetSecret(id)
    },
    async endInterrupted(): Promise<void> {
      for (const { id, plan } of listInterrupted(db)) {
        fail(id, createMessage('oauth_interrupted', { service: plan.name }))
        await forgetSecret(id)
      }
    },
  }
}
