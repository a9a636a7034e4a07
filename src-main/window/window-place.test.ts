import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { placeFor, readPlace, writePlace } from './window-place.ts'

const SCREEN = { x: 0, y: 0, width: 1920, height: 1080 }
const LEFT = { x: -1280, y: 0, width: 1280, height: 1024 }
const at = (x: number, y: number, width = 1000, height = 700) => ({ bounds: { x, y, width, height }, maximized: false })

it.each([
  ['never opened before', null, [SCREEN], { width: 1240, height: 820 }],
  ['where it was', at(100, 50), [SCREEN], { x: 100, y: 50, width: 1000, height: 700 }],
  ['on the second screen', at(-1200, 50), [SCREEN, LEFT], { x: -1200, y: 50, width: 1000, height: 700 }],
  ['the second screen is gone', at(-1200, 50), [SCREEN], { width: 1000, height: 700 }],
  ['hardly anything of it would be seen', at(1850, 50), [SCREEN], { width: 1000, height: 700 }],
  ['its title bar would be above the screen', at(100, -300), [SCREEN], { width: 1000, height: 700 }],
  ['smaller than the page allows', at(10, 10, 300, 200), [SCREEN], { x: 10, y: 10, width: 900, height: 600 }],
] as const)('the window opens: %s', (_case, saved, screens, bounds) => {
  expect(placeFor(saved, screens)).toEqual({ bounds, maximized: false })
})

it('remembers its place, and opens at the default place if the file cannot be read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-window-'))
  const file = join(folder, 'window.json')
  expect(readPlace(file)).toBeNull()
  await writePlace(file, { ...at(1, 2), maximized: true })
  expect(readPlace(file)).toEqual({ ...at(1, 2), maximized: true })
  writeFileSync(file, '{"bounds":{"x":"far"}}')
  expect(readPlace(file)).toBeNull()
  rmSync(folder, { recursive: true })
})
