import type { Message } from '../../src-runner/contract/messages.ts'
import type { DesktopState } from '../../src-main/contract/desktop-api.ts'

const CODES = ['database_damaged', 'database_newer', 'database_locked', 'disk_full', 'read_only', 'data_dir_unusable'] as const

/** Why the data cannot be used. */
export type DataTrouble = { code: (typeof CODES)[number]; message: Message; dataDir: string }

/** null: the data can be used, or something else keeps the runner from starting. */
export function dataTroubleOf(state: DesktopState | null): DataTrouble | null {
  if (state?.runner.state !== 'failed') return null
  const { code, message } = state.runner
  const known = CODES.find((one) => one === code)
  return known === undefined ? null : { code: known, message, dataDir: state.info.dataDir }
}
