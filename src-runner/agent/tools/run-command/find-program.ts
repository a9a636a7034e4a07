import { realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { findByName, isProgram, mayStart, type Startable } from '../../../platform/programs/user-toolchain.ts'
import { showName } from '../../files/folder-paths.ts'

/** The message is for the model. */
export class NoSuchProgram extends Error {
  override readonly name = 'NoSuchProgram'
}

/**
 * The absolute path of the program that a command names. A bare name is looked up only in the system's and the person's
 * program folders, where agents cannot write, so nothing in the working folder can take the place of `git`. A program in
 * the working folder is named with its path: `./build.sh`.
 */
export async function findProgram(name: string, folder: string, programs: Startable): Promise<string> {
  if (name === '') throw new NoSuchProgram('The command is empty: its first word is the program to run.')
  if (isAbsolute(name)) return atPath(name, folder, programs)
  if (name.includes('/') || name.includes(sep)) return inFolder(name, folder)
  const found = await findByName(name, programs)
  if (found !== null) return found
  const here = (await isProgram(join(folder, name))) ? ` ${`There is one in the folder itself: name it './${showName(name)}'.`}` : ''
  const words = /\s/.test(name) ? ` Give each argument as an element of its own.` : ''
  const places = programs.path.map(showName).join(', ')
  throw new NoSuchProgram(`There is no program '${showName(name)}' on this machine (looked in ${places}).${here}${words}`)
}

async function atPath(path: string, folder: string, programs: Startable): Promise<string> {
  if (isIn(folder, path)) return inFolder(`./${path.slice(folder.length)}`, folder)
  if (!programs.path.some((place) => isIn(place, path)) || path.split('/').includes('..'))
    throw new NoSuchProgram(
      `'${showName(path)}' is neither in the folder nor in one of ${programs.path.map(showName).join(', ')}, and is not started.`,
    )
  if (await mayStart(path, programs)) return path
  throw new NoSuchProgram(`'${showName(path)}' does not exist, or is not a program that may be started.`)
}

async function inFolder(name: string, folder: string): Promise<string> {
  if (!name.startsWith('./') && !name.startsWith(`.${sep}`))
    throw new NoSuchProgram(`Name a program of the folder with './' before it: './${showName(name.replace(/^(\.\.\/)+/, ''))}'.`)
  const real = await realpath(join(folder, name)).catch(() => null)
  if (real === null) throw new NoSuchProgram(`There is no '${showName(name)}' in the folder.`)
  if (!isIn(folder, real)) throw new NoSuchProgram(`'${showName(name)}' leads out of the folder, and is not started.`)
  if (!(await isProgram(real))) throw new NoSuchProgram(`'${showName(name)}' is not a program: it may not be executed.`)
  return real
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
