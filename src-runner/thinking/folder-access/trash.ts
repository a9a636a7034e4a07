import type { BigIntStats } from 'node:fs'
import type { FileSpot } from './file-spot.ts'

/** Where a person finds what was deleted, and can take it back without Deckhand. */
export type Trash = {
  /**
   * Moves the file there, if it is still what was looked at. false: there is no trash for this place, and nothing
   * happened.
   */
  take(spot: FileSpot, expected: BigIntStats): Promise<boolean>
}
