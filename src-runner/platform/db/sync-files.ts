import { closeSync, fsyncSync, openSync } from 'node:fs'

/** A rename survives a power cut only when the folder is on disk too. Windows has no such call and needs none. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPath(folder, 'r')
}

export function syncFile(file: string): void {
  syncPath(file, 'r+')
}

function syncPath(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
