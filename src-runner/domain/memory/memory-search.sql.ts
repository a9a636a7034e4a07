import type { Tx } from '../../platform/db/database.ts'

export function indexMemory(tx: Tx, seq: number, text: string): void {
  tx.prepare('INSERT OR REPLACE INTO memory_search (rowid, text) VALUES (?, ?)').run(seq, text)
}

export function removeFromIndex(tx: Tx, seq: number): void {
  tx.prepare('DELETE FROM memory_search WHERE rowid = ?').run(seq)
}
