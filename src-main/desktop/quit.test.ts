import { EventEmitter } from 'node:events'
import type { App } from 'electron'
import { expect, it, vi } from 'vitest'
import type { Host } from '../host.ts'
import type { Abilities } from './abilities.ts'
import { speechOf } from './language.ts'
import { createQuit } from './quit.ts'

it('tells who asked that the person goes on, so that a closed window comes back', async () => {
  vi.spyOn(process, 'on').mockReturnThis()
  const host = { supervisor: { running: () => ({ jobs: [{ title: 'Report' }] }) } } as unknown as Host
  const abilities = { confirm: async () => false } as unknown as Abilities
  const quit = createQuit(
    new EventEmitter() as App,
    host,
    () => abilities,
    () => speechOf('en'),
    () => expect.fail('nothing quits'),
  )
  vi.restoreAllMocks()
  const show = vi.fn<() => void>()
  quit.ask(show)
  await expect.poll(() => show.mock.calls.length).toBe(1)
  expect(quit.isQuitting()).toBe(false)
})
