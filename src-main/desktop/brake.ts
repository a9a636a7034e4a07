import type { Supervisor } from '../runner/supervisor.ts'
import type { Abilities } from './abilities.ts'
import type { Speech } from './speech.ts'

/** Pulled at once. Released only after a question: what was stopped starts again, and a menu is quickly missed by a line. */
export async function setBrake(
  abilities: Pick<Abilities, 'confirm'>,
  supervisor: Pick<Supervisor, 'setBrake'>,
  on: boolean,
  { words }: Speech,
): Promise<void> {
  const text = words.desktop.questions
  const agreed =
    on ||
    (await abilities.confirm({
      message: text.release,
      detail: text.releaseText,
      yes: text.releaseYes,
      no: text.releaseNo,
    }))
  if (agreed) supervisor.setBrake(on)
}
