import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, parse } from 'node:path'
import { linksOfHome } from './links.ts'
import { foldName } from './path-patterns.ts'
import { codePlaceOf, isHiddenInHome, isInside, placeAroundFolder, runsByItself, secretPlaceOf, type Written } from './places-by-path.ts'
import {
  configsOfPerson,
  isInRepository,
  isNamedByRepository,
  namedByConfigs,
  rememberLooks,
  repositoryAround,
  type FolderLooks,
} from './repositories.ts'

/** Whether a real path lies in a secret place, or is the target of a link in one. */
export async function isSecretPlace(path: string): Promise<boolean> {
  if (secretPlaceOf(path) !== null) return true
  return (await linksOfHome()).some(({ link, target }) => isInside(target, path) && secretPlaceOf(link) !== null)
}

/** Like `placeAroundFolder`, for the working folder of a command. Also looks at the disk. */
export async function placeAroundPrograms({ path, folder }: Written): Promise<string | null> {
  const around = placeAroundFolder(path) ?? pathFolders().find((place) => isInside(place, path))
  return around ?? (isHiddenInHome(path, folder) ? path : repositoryAround(path))
}

/**
 * Whether a file written there runs by itself later. Also looks at the disk, for repositories without a work tree, targets of
 * links in the home, and make files beside a new one.
 */
export async function isCodePlace(written: Written): Promise<boolean> {
  return isCodeAmong(written, await placesLedTo())
}

/** `isCodePlace` for many paths in a row: looks at each folder once. */
export async function codePlaceTest(): Promise<typeof isCodePlace> {
  const [ledTo, looks] = [await placesLedTo(), rememberLooks()]
  return (written) => isCodeAmong(written, ledTo, looks)
}

async function isCodeAmong({ path, folder }: Written, ledTo: readonly string[], looks?: FolderLooks): Promise<boolean> {
  if (runsByItself({ path, folder }) || ledTo.some((place) => isInside(place, path))) return true
  const found = await Promise.all([isInRepository(path, looks), isNamedByRepository(path, looks), takesPlaceOfMakeFile(path)])
  return found.includes(true)
}

/** Targets of links at code places of the home, folders of PATH, and what git runs in every repository. */
export async function placesLedTo(): Promise<string[]> {
  const links = (await linksOfHome()).filter(({ link }) => codePlaceOf(link) !== null || isHiddenInHome(link, homedir()))
  return [...links.map(({ target }) => target), ...pathFolders(), ...(await namedByConfigs(configsOfPerson(), homedir()))]
}

/** Folders of PATH outside the system's. */
function pathFolders(): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.filter((folder) => isAbsolute(folder) && folder !== homedir() && folder !== parse(folder).root)
}

const MAKE_FILES = ['gnumakefile', 'makefile', 'bsdmakefile']

/** `make` reads the first one that exists, so a new one could replace the person's own. */
async function takesPlaceOfMakeFile(path: string): Promise<boolean> {
  const name = basename(path)
  if (!MAKE_FILES.includes(foldName(name))) return false
  const names = await readdir(dirname(path)).catch((): string[] => [])
  return !names.includes(name) && names.some((other) => MAKE_FILES.includes(foldName(other)))
}
