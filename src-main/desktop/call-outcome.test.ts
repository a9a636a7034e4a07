import { expect, it } from 'vitest'
import { silentLog } from '../log/log.ts'
import { VaultError } from '../vault/vault.ts'
import { outcomeOf } from './call-outcome.ts'

const failing = (error: Error) => outcomeOf('usePort', () => Promise.reject(error), silentLog)

it('returns the result of a call', async () => {
  expect(await outcomeOf('getState', async () => 3, silentLog)).toEqual({ ok: true, value: 3 })
})

it('returns the message of a call that failed, not a sentence', async () => {
  const detail = { code: 'keychain_locked', params: {} } as const
  expect(await failing(new VaultError('locked', detail))).toEqual({ ok: false, message: detail })
})

it('quotes the system', async () => {
  const message = { code: 'desktop_call_failed', params: { why: 'EACCES: permission denied' } }
  expect(await failing(new Error('EACCES: permission denied'))).toEqual({ ok: false, message })
})
