import { realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { findByName, isProgram, mayStart, type Startable } from '../../../base/programs/own-programs.ts'
import { say } from '../../../kit/said.ts'
import { showName } from '../../folder-access/folder-paths.ts'

/** A sentence for the model about a program that is not there or may not be started. */
export class NoSuchProgram extends Error {
  override readonly name = 'NoSuchProgram'
}

/**
 * The absolute path of the program that a command names. A bare name is looked for in the folders of the system and of
 * the person alone, to none of which agents write, so that nothing which somebody has put into the working folder takes
 * the place of `git`; what lies in the working folder is named as such: `./build.sh`.
 */
export async function findProgram(name: string, folder: string, programs: Startable): Promise<string> {
  if (name === '') throw new NoSuchProgram('The command is empty: its first word is the program to run.')
  if (isAbsolute(name)) return atPath(name, folder, programs)
  if (name.includes('/') || name.includes(sep)) return inFolder(name, folder)
  const found = await findByName(name, programs)
  if (found !== null) return found
  const here = (await isProgram(join(folder, name))) ? ` ${say('program_is_here', { program: `./${showName(name)}` })}` : ''
  const words = /\s/.test(name) ? ` ${say('program_with_words')}` : ''
  const places = programs.path.map(showName).join(', ')
  throw new NoSuchProgram(`${say('program_missing', { program: showName(name), words: places })}${here}${words}`)
}

async function atPath(path: string, folder: string, programs: Startable): Promise<string> {
  if (isIn(folder, path)) return inFolder(`./${path.slice(folder.length)}`, folder)
  if (!programs.path.some((place) => isIn(place, path)) || path.split('/').includes('..'))
    throw new NoSuchProgram(say('program_elsewhere', { program: showName(path), words: programs.path.map(showName).join(', ') }))
  if (await mayStart(path, programs)) return path
  throw new NoSuchProgram(say('program_none', { program: showName(path) }))
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
