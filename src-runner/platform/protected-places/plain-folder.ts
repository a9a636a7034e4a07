import { constants } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'

/** From <fcntl.h>; Node has no name for it. */
const O_PATH = 0o10_000_000

/**
 * Calls `use` with a path to this folder. On Linux it leads there even if another program replaces a part of the folder's path
 * by a link during the call. Throws if a part of the path is a link before.
 */
export async function withPlainFolder<T>(folder: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') {
    if ((await realpath(folder)) !== folder) throw new Error(`a part of ${folder} is a link`)
    return use(folder)
  }
  const handle = await open(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const path = `/proc/self/fd/${handle.fd}`
    if ((await readlink(path)) !== folder) throw new Error(`a part of ${folder} is a link`)
    return await use(path)
  } finally {
    await handle.close()
  }
}
