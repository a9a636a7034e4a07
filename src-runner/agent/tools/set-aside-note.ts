import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import { showName } from '../files/folder-paths.ts'

const MAX_NAMED = 20

/** For the model, before the names. */
export const SET_ASIDE = 'Renamed, because these files would run by themselves later (git, shell, editor, CI).'

/** Lines with the old names and the new ones. Programs choose them. */
export function namesOf(setAside: readonly SetAside[]): string[] {
  const lines = setAside.slice(0, MAX_NAMED).map(({ path, to }) => {
    return to === null ? `${showName(path)}: this failed, and a person has to look at it` : `${showName(path)} is now ${showName(to)}`
  })
  return setAside.length > MAX_NAMED ? [...lines, `… and ${setAside.length - MAX_NAMED} more`] : lines
}
