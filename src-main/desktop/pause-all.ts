import type { Supervisor } from '../runner/supervisor.ts'
import type { Abilities } from './abilities.ts'
import { questionOf, type Speech } from './language.ts'

/** Pauses at once. Asks before resuming, because a wrong click in a menu would start everything again. */
export async function setPauseAll(
  abilities: Pick<Abilities, 'confirm'>,
  supervisor: Pick<Supervisor, 'setPauseAll'>,
  on: boolean,
  speech: Speech,
): Promise<void> {
  if (on || (await abilities.confirm(questionOf(speech, 'resume')))) supervisor.setPauseAll(on)
}
