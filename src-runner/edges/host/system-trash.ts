import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import { createFreedesktopTrash } from '../../thinking/folder-access/freedesktop-trash.ts'
import type { Trash } from '../../thinking/folder-access/trash.ts'

/** The trash of this system; undefined where there is none that a process without a window can use. */
export function findSystemTrash(environment: Record<string, string | undefined>, clock: Clock): Trash | undefined {
  if (process.platform !== 'linux') return undefined
  const dataHome = environment['XDG_DATA_HOME'] ?? ''
  // The specification: a path that is not absolute is to be taken as not given.
  const home = isAbsolute(dataHome) ? dataHome : join(homedir(), '.local', 'share')
  return createFreedesktopTrash({ homeTrash: join(home, 'Trash'), uid: userInfo().uid, clock })
}
