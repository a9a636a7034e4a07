import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { showName } from '../../folder-access/folder-paths.ts'

/** A sentence for the model about a program that is not there or may not be started. */
export class NoSuchProgram extends Error {
  override readonly name = 'NoSuchProgram'
}

/** On Windows a script (`npm.cmd`) can only be started by a shell, which would read its arguments a second time. */
const WINDOWS_ENDINGS = ['', '.exe', '.com']

/**
 * The absolute path of the program that a command names. A bare name is looked for in the system's folders alone, so
 * that nothing which somebody has put into the working folder takes the place of `git`; what lies in the working
 * folder is named as such: `./build.sh`.
 */
export async function findProgram(
  name: string,
  folder: string,
  systemFolders: readonly string[],
  platform = process.platform,
): Promise<string> {
  if (name === '') throw new NoSuchProgram('The command is empty: its first word is the program to run.')
  if (isAbsolute(name)) return inSystem(name, folder, systemFolders)
  if (name.includes('/') || name.includes(sep)) return inFolder(name, folder)
  for (const systemFolder of systemFolders) {
    for (const ending of platform === 'win32' ? WINDOWS_ENDINGS : ['']) {
      const path = join(systemFolder, name + ending)
      if (await isProgram(path)) return path
    }
  }
  const here = (await isProgram(join(folder, name))) ? ` There is one in the folder itself: name it './${showName(name)}'.` : ''
  const words = /\s/.test(name) ? ' Give each argument as an element of its own.' : ''
  throw new NoSuchProgram(`There is no program '${showName(name)}' on this machine (looked in ${systemFolders.join(', ')}).${here}${words}`)
}

async function inSystem(path: string, folder: string, systemFolders: readonly string[]): Promise<string> {
  if (isIn(folder, path)) return inFolder(`./${path.slice(folder.length)}`, folder)
  if (!systemFolders.some((systemFolder) => isIn(systemFolder, path)) || path.split('/').includes('..'))
    throw new NoSuchProgram(`'${showName(path)}' is neither in the folder nor in one of ${systemFolders.join(', ')}, and is not started.`)
  if (await isProgram(path)) return path
  throw new NoSuchProgram(`'${showName(path)}' does not exist or is not a program.`)
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

async function isProgram(path: string): Promise<boolean> {
  const isFile = await stat(path).then((stats) => stats.isFile(), () => false) // prettier-ignore
  return isFile && access(path, constants.X_OK).then(() => true, () => false) // prettier-ignore
}
