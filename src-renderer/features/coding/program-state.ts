import type { CodingProgram } from '../../../src-runner/contract/coding-programs.ts'
import { t } from '../../lib/language.ts'

/** In a word or two: whether a coding program can be used. */
export function programStateText({ installed, version, signedIn }: CodingProgram): string {
  if (!installed) return t('settings.coding.notInstalled')
  if (version === null) return t('settings.coding.broken')
  return t(`settings.coding.signedIn.${signedIn}`)
}

export function programTone({ installed, version, signedIn }: CodingProgram): 'ok' | 'plain' | 'warn' {
  if (!installed) return 'plain'
  return version !== null && signedIn === 'yes' ? 'ok' : 'warn'
}

/** Whether a task may be started with it. Some programs do not say whether they are signed in. */
export function isUsable({ installed, version }: CodingProgram): boolean {
  return installed && version !== null
}
