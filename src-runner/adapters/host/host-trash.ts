import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { FromRunner, ToRunner } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { isSameFile, requireSame } from '../../agent/files/change-file.ts'
import { PathRefused, showPlace } from '../../agent/files/folder-paths.ts'
import { createFreedesktopTrash, type Trash } from '../../agent/files/trash.ts'
import { createHostQuestions } from './host-questions.ts'

type Ask = Extract<FromRunner, { type: 'trash.ask' }>
type Answer = Extract<ToRunner, { type: 'trash.answer' }>

export type HostTrash = Trash & { answer(message: Answer): void }

/** The system may ask the person first. */
const ANSWER_WITHIN_MS = 60_000

/**
 * The trash of macOS and Windows, which only the desktop process can use. The host gets a path, so a file that is replaced
 * at the last moment is trashed instead, and can be restored.
 *
 * Never returns false, which would allow a real deletion: the host cannot tell a disk without a trash from a refusal.
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
      if (isSameFile(await spot.stat(), expected))
        throw new PathRefused(`The system says that '${shown}' is in the trash, but it is still there.`)
      await spot.sync()
      return true
    },
    answer: questions.answer,
  }
}

/** The trash of this system; undefined: none that a process without a window can use. */
export function findSystemTrash(environment: Record<string, string | undefined>, clock: Clock): Trash | undefined {
  if (process.platform !== 'linux') return undefined
  const dataHome = environment['XDG_DATA_HOME'] ?? ''
  // The specification ignores a path that is not absolute.
  const home = isAbsolute(dataHome) ? dataHome : join(homedir(), '.local', 'share')
  return createFreedesktopTrash({ homeTrash: join(home, 'Trash'), uid: userInfo().uid, clock })
}
