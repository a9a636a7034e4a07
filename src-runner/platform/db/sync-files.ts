import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A rename survives a power cut only when the folder is on disk too. Windows has no such call and needs none. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPath(folder, 'r')
}

export function syncFile(file: string): void {
  syncPath(file, 'r+')
}

/** On disk when this returns, and whole or not there at all after a crash. */
export function writeDurably(file: string, text: string): void {
  writeFileSync(`${file}.part`, text, { mode: 0o600 })
  syncFile(`${file}.part`)
  renameSync(`${file}.part`, file)
  syncFolder(dirname(file))
}

function syncPath(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
