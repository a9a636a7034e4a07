import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { writeAtomic } from '../settings/write-atomic.ts'

export const MIN_SIZE = { width: 900, height: 600 }
const DEFAULT_SIZE = { width: 1240, height: 820 }

const Rectangle = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int().positive(),
  height: z.number().int().positive(),
})
export type Rectangle = z.infer<typeof Rectangle>

const WindowPlace = z.object({ bounds: Rectangle, maximized: z.boolean() })
export type WindowPlace = z.infer<typeof WindowPlace>

/** This much of the window must be on a screen, so that a person can grab it. */
const GRASP = { width: 120, height: 60 }

/**
 * Opens the window where it was. If that screen is gone, keeps the size and lets the system choose the place.
 */
export function placeFor(
  saved: WindowPlace | null,
  screens: readonly Rectangle[],
): { bounds: Partial<Rectangle> & { width: number; height: number }; maximized: boolean } {
  if (saved === null) return { bounds: DEFAULT_SIZE, maximized: false }
  const size = { width: Math.max(saved.bounds.width, MIN_SIZE.width), height: Math.max(saved.bounds.height, MIN_SIZE.height) }
  const { x, y } = saved.bounds
  const visible = screens.some((screen) => {
    const across = Math.min(x + size.width, screen.x + screen.width) - Math.max(x, screen.x)
    const down = Math.min(y + size.height, screen.y + screen.height) - Math.max(y, screen.y)
    return across >= GRASP.width && down >= GRASP.height && y >= screen.y - GRASP.height
  })
  return { bounds: visible ? { x, y, ...size } : size, maximized: saved.maximized }
}

/** If the file cannot be read, uses the default place. That is not worth a message. */
export function readPlace(file: string): WindowPlace | null {
  try {
    return WindowPlace.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

export function writePlace(file: string, place: WindowPlace): Promise<void> {
  return writeAtomic(file, JSON.stringify(place))
}
