import { readdir, readFile, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'

const LISTENING = '0A'
/** Files that only Deckhand keeps open, in its data folder. */
const OWN_FILES = /\/(deckhand\.db|logs\/main\.log)$/

/**
 * The data folder of the Deckhand that listens on this port. null: another program or another account. Reads /proc, so
 * nothing is sent to the port. Linux only.
 */
export async function dataDirOfPort(port: number): Promise<string | null> {
  if (process.platform !== 'linux') return null
  const sockets = await listeningSockets(port)
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const open = await openFiles(pid)
    if (!open.some((file) => sockets.has(file))) continue
    const own = open.find((file) => OWN_FILES.test(file))
    if (own !== undefined) return own.endsWith('.db') ? dirname(own) : dirname(dirname(own))
  }
  return null
}

/** Named like the links in /proc/<pid>/fd. Columns: https://docs.kernel.org/networking/proc_net_tcp.html */
async function listeningSockets(port: number): Promise<Set<string>> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const rows = tables.flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
  const isHolder = ([, local, , state]: string[]) => state === LISTENING && Number.parseInt(local!.split(':')[1]!, 16) === port
  return new Set(rows.filter(isHolder).map((row) => `socket:[${row[9]}]`))
}

/** Empty for a process of another account, or one that just ended. */
async function openFiles(pid: string): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  return Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
}
