import type { Supervisor } from '../runner/supervisor.ts'
import type { Abilities } from './abilities.ts'
import type { Speech } from './language.ts'

/** Pauses at once. Asks before resuming, because a wrong click in a menu would start everything again. */
export async function setPauseAll(
  abilities: Pick<Abilities, 'confirm'>,
  supervisor: Pick<Supervisor, 'setPauseAll'>,
  on: boolean,
  { t }: Speech,
): Promise<void> {
  const agreed =
    on ||
    (await abilities.confirm({
      message: t('desktop.questions.resume'),
      detail: t('desktop.questions.resumeText'),
      yes: t('desktop.questions.resumeYes'),
      no: t('desktop.questions.resumeNo'),
    }))
  if (agreed) supervisor.setPauseAll(on)
}
