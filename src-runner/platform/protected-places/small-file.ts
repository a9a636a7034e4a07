import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** The beginning of an untrusted file; empty if there is none. Does not read pipes and devices, which could block or never end. */
export async function readSmallFile(path: string, most: number): Promise<string> {
  const handle = await open(path, READ_ONLY).catch(() => null)
  if (handle === null) return ''
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) return ''
    const room = Buffer.alloc(Math.min(stats.size, most))
    const { buffer, bytesRead } = await handle.read(room, 0, room.length, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  } finally {
    await handle.close()
  }
}
