import type { Services } from '../../platform/services.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError, problemOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { AuthorizationRow, DeviceCode } from '../../domain/credentials/authorizations.ts'
import { readAuthorizationSecret, signInService } from './authorization-secret.ts'
import { createDevicePolls, type PollResult } from './device-polls.ts'
import type { AuthorizationCleanup } from './end-authorizations.ts'
import type { OAuthClient, OAuthService } from './oauth-client.ts'
import { isSafeAddress } from './safe-endpoints.ts'
import type { StoreAccount } from './store-account.ts'

type DeviceSignInsDeps = Pick<Services, 'db' | 'vault' | 'clock' | 'log'> & {
  client: OAuthClient
  cleanup: AuthorizationCleanup
  storeAccount: StoreAccount
}

const MAX_DEVICE_LIVES_MS = 30 * 60_000
const MAX_POLL_S = 60

/** Sign-ins by a code that a person types on another device (RFC 8628). */
export function createDeviceSignIns({ client, cleanup, storeAccount, ...deps }: DeviceSignInsDeps) {
  const { vault, clock } = deps
  const polls = createDevicePolls({ ...deps, poll })

  async function poll(row: AuthorizationRow): Promise<PollResult> {
    const secret = await readAuthorizationSecret(vault, row.id)
    if (row.expiresAt <= clock.now() || secret?.deviceCode == null) {
      await cleanup.endOld()
      return secret?.deviceCode == null ? endWith(row.id, createMessage('error_authorization_over')) : 'ended'
    }
    const service = signInService(row, secret)
    const answer = await client.pollDevice(service, secret.deviceCode)
    if (answer.state === 'refused') return endWith(row.id, answer.problem)
    if (answer.state !== 'issued') return answer.state
    try {
      await storeAccount(row, service, answer.tokens)
      await cleanup.forgetSecret(row.id)
      return 'ended'
    } catch (error) {
      // The code counts once, so asking again would change nothing.
      return endWith(row.id, problemOf(error))
    }
  }

  async function endWith(authorizationId: string, problem: Message): Promise<'ended'> {
    cleanup.fail(authorizationId, problem)
    await cleanup.forgetSecret(authorizationId)
    return 'ended'
  }

  return {
    /** Throws AppError authorization_refused. */
    async start(service: OAuthService, scopes: readonly string[]): Promise<{ deviceCode: string; shown: DeviceCode }> {
      if (service.endpoints.deviceUrl === null)
        throw new AppError('authorization_refused', createMessage('oauth_no_device', { service: service.name }))
      const given = await client.startDevice(service, scopes)
      if (given.state !== 'started') throw new AppError('authorization_refused', given.problem)
      const {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri_complete: complete,
        interval = 5,
        expires_in: expiresIn,
      } = given
      const verificationUrl = complete !== undefined && isSafeAddress(complete) ? complete : given.verification_uri
      if (!isSafeAddress(verificationUrl) || !/^[\x21-\x7e]{1,40}$/.test(userCode)) {
        throw new AppError('authorization_refused', createMessage('oauth_bad_answer', { service: service.name }))
      }
      // The database takes whole numbers only.
      const livesMs = Math.round(Math.min(expiresIn * 1000, MAX_DEVICE_LIVES_MS))
      const pollIntervalMs = Math.round(Math.min(Math.max(interval, 1), MAX_POLL_S) * 1000)
      return { deviceCode, shown: { userCode, verificationUrl, pollIntervalMs, expiresAt: clock.now() + livesMs } }
    },
    plan: polls.plan,
    stop: polls.stop,
  }
}
