import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Deletes what programs left in a folder of theirs, if there is one. Some make their caches read-only, as Go does with its modules. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    await makeWritable(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Follows no link: links are not folders here. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
}
