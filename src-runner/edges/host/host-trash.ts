import type { FromRunner, ToRunner } from '../../contract/port.ts'
import type { Clock } from '../../kit/clock.ts'
import { isSameFile, requireSame } from '../../thinking/folder-access/change-file.ts'
import { PathRefused, showPlace } from '../../thinking/folder-access/folder-paths.ts'
import type { Trash } from '../../thinking/folder-access/trash.ts'
import { createHostQuestions } from './host-questions.ts'

type Ask = Extract<FromRunner, { type: 'trash.ask' }>
type Answer = Extract<ToRunner, { type: 'trash.answer' }>

export type HostTrash = Trash & { answer(message: Answer): void }

/** The system may ask the person for leave first. */
const ANSWER_WITHIN_MS = 60_000

/**
 * The trash of systems where only a program with a desktop reaches it (macOS, Windows): the host is asked. It goes by
 * the path, so a file that is swapped in the last moment goes there in place of the other, and can be taken back.
 *
 * Never answers false: a host does not tell a disk without a trash from a refusal, and what a person could have taken
 * back must not be gone for good because something went wrong.
 */
export function createHostTrash({ send, clock }: { send(message: Ask): void; clock: Clock }): HostTrash {
  const questions = createHostQuestions<Answer>({ clock, withinMs: ANSWER_WITHIN_MS })
  return {
    async take(spot, expected) {
      const shown = showPlace(spot.place)
      await requireSame(spot, expected)
      const { ok, message } = await questions.ask(
        (requestId) => send({ type: 'trash.ask', requestId, path: spot.realPath }),
        () => new PathRefused(`The system did not say whether it moved '${shown}' to the trash. Look whether it is still there.`),
      )
      if (!ok) throw new PathRefused(`'${shown}' was not moved to the trash: ${message ?? 'the system did not say why'}`)
      if (isSameFile(await spot.look(), expected))
        throw new PathRefused(`The system says that '${shown}' is in the trash, but it is still there.`)
      await spot.sync()
      return true
    },
    answer: questions.answer,
  }
}
