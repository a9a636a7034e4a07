import type { Supervisor } from '../runner/supervisor.ts'
import type { Abilities } from './abilities.ts'

/** Pulled at once. Released only after a question: what was stopped starts again, and a menu is quickly missed by a line. */
export async function setBrake(
  abilities: Pick<Abilities, 'confirm'>,
  supervisor: Pick<Supervisor, 'setBrake'>,
  on: boolean,
): Promise<void> {
  const agreed =
    on ||
    (await abilities.confirm({
      message: 'Release the emergency brake?',
      detail: 'Jobs that wait start again, and agents decide by themselves again what their rules let them.',
      yes: 'Release',
      no: 'Keep It On',
    }))
  if (agreed) supervisor.setBrake(on)
}
