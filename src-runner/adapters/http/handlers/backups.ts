import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function backupHandlers({ dailyBackup }: HandlerDeps) {
  return {
    listBackups: () => dailyBackup.read(),
    makeBackup: async () => ({ backup: await dailyBackup.make() }),
  } satisfies Partial<Handlers>
}
