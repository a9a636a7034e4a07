import { readFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { DesktopCommand } from '../contract/desktop-api.ts'
import { speechOf } from '../desktop/language.ts'
import { menuTemplate } from './menu.ts'

type Item = ReturnType<typeof menuTemplate>[number]
const flat = (items: Item[]): Item[] => items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])])

describe.each(['darwin', 'linux', 'win32'] as const)('the menu on %s', (platform) => {
  const command = vi.fn<(command: DesktopCommand) => void>()
  const quit = vi.fn<() => void>()
  const items = flat(
    menuTemplate({
      platform,
      development: false,
      command,
      openInBrowser: () => undefined,
      showLogs: () => undefined,
      quit,
      t: speechOf('de').t,
    }),
  )

  it('has unique shortcuts, settings and quit once, and copy and paste', () => {
    const shortcuts = items.map((item) => item.accelerator).filter(Boolean)
    expect(new Set(shortcuts).size).toBe(shortcuts.length)
    expect(shortcuts.filter((shortcut) => shortcut === 'CmdOrCtrl+,' || shortcut === 'CmdOrCtrl+Q')).toHaveLength(2)
    expect(items.some((item) => item.role === 'editMenu')).toBe(true)
  })

  it('uses the language of the page', () => {
    for (const item of items) if (item.type !== 'separator') expect(item.label).toBeTruthy()
    expect(items.map((item) => item.label)).toEqual(expect.arrayContaining(['Bearbeiten', 'Einfügen', 'Vollbild', 'Tastenkürzel']))
  })

  it('sends only commands that the page knows', () => {
    for (const item of items) (item.click as (() => void) | undefined)?.()
    expect(quit).toHaveBeenCalledTimes(1)
    expect(command.mock.calls.length).toBeGreaterThan(5)
    for (const [wish] of command.mock.calls) expect(DesktopCommand.safeParse(wish).success).toBe(true)
  })

  it('has every screen of the navigation', async () => {
    const source = await readFile(new URL('../../src-renderer/shell/screens.ts', import.meta.url), 'utf8')
    const screens = [...source.matchAll(/ path: '([^']+)'/g)].map(([, path]) => path)
    expect(screens.length).toBeGreaterThan(10)
    for (const item of items) (item.click as (() => void) | undefined)?.()
    const went = command.mock.calls.flatMap(([wish]) => (wish.command === 'go' ? [wish.path] : []))
    expect(went).toEqual(expect.arrayContaining(screens))
    expect(items.map((item) => item.label)).toContain('Modelle && Schlüssel')
  })

  it('shows developer tools only in development', () => {
    expect(items.some((item) => item.role === 'toggleDevTools')).toBe(false)
  })
})
