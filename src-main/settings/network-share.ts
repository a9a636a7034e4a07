import { readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Message } from '../../src-runner/contract/messages.ts'

/** https://man7.org/linux/man-pages/man5/fstab.5.html. 9p is also how WSL shows the disks of Windows. */
const NETWORK = /^(nfs4?|cifs|smb3|smbfs|9p|afs|ceph|ncpfs|fuse\.(sshfs|rclone|glusterfs|s3fs|davfs2?))$/

/**
 * A warning if the data folder, or the file that its database links to, is on a network share. SQLite's WAL needs memory
 * that all programs share, and a share has none between two computers: https://www.sqlite.org/wal.html. Linux only.
 */
export function networkShareProblem(dataDir: string, readMounts = readSystemMounts): Message | null {
  const mounts = readMounts()
  for (const path of [dataDir, join(dataDir, 'deckhand.db')]) {
    const type = typeAt(resolve(path), mounts)
    if (type !== null && NETWORK.test(type)) return { code: 'data_on_network_share', params: { folder: dataDir, type } }
  }
  return null
}

/** The type of the disk that a path is on. The longest mount point counts, and of two at the same place the later. */
function typeAt(path: string, mounts: string): string | null {
  let found = { point: '', type: null as string | null }
  for (const line of mounts.split('\n')) {
    const [, escaped = '', type = null] = line.split(' ')
    const point = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))
    const isAbove = path === point || path.startsWith(point.endsWith(sep) ? point : point + sep)
    if (point !== '' && isAbove && point.length >= found.point.length) found = { point, type }
  }
  return found.type
}

function resolve(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function readSystemMounts(): string {
  try {
    return readFileSync('/proc/mounts', 'utf8')
  } catch {
    return ''
  }
}
