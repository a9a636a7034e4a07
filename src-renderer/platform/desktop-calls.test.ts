import { afterEach, expect, it } from 'vitest'
import type { DesktopBridge, DesktopOutcome } from '../../src-main/contract/desktop-api.ts'
import { failureText } from '../lib/failure-text.ts'
import { changeLanguage, loadTexts } from '../lib/language.ts'
import { createDesktopApi } from './desktop-calls.ts'

afterEach(() => changeLanguage('system'))

const answering = (outcome: DesktopOutcome) =>
  createDesktopApi({ rotateSecret: async () => outcome, onState: () => () => {}, onCommand: () => () => {} } as unknown as DesktopBridge)

it('resolves with the result', async () => {
  expect(await answering({ ok: true, value: 'x' }).rotateSecret(undefined)).toBe('x')
})

it('shows why a call failed in the language of the page', async () => {
  const api = answering({ ok: false, message: { code: 'secret_given', params: {} } })
  changeLanguage('de')
  await loadTexts()
  const thrown = await api.rotateSecret(undefined).catch((error: unknown) => error)
  expect(failureText(thrown)).toBe('WORKER_SECRET oder --worker-secret-file legt das API-Secret fest. Ändere es dort.')
})
