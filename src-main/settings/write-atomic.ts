import writeFileAtomic from 'write-file-atomic'

/**
 * Replaces a file as a whole, readable by its owner alone: a crash leaves the old text or the new one, never half of
 * either. Calls for the same file queue up behind each other.
 */
export async function writeAtomic(file: string, text: string): Promise<void> {
  await writeFileAtomic(file, text, { mode: 0o600, fsync: true })
}
