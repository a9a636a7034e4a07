import type { MenuItemConstructorOptions } from 'electron'
import type { Words } from '../../src-renderer/kit/words/words.ts'
import type { DesktopCommand } from '../contract/desktop-api.ts'

export type MenuDeps = {
  platform: NodeJS.Platform
  development: boolean
  command: (command: DesktopCommand) => void
  showLogs: () => void
  quit: () => void
  words: Words['desktop']['menu']
}

const SCREENS = [
  ['home', '/', '1'],
  ['chat', '/chat', '2'],
  ['activity', '/activity', '3'],
  ['agents', '/agents', '4'],
  ['models', '/models', '5'],
] as const

/** The app's menu, on every system: it is where shortcuts are found, and on macOS what makes copy and paste work. */
export function menuTemplate({ platform, development, command, showLogs, quit, words }: MenuDeps): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin'
  const line: MenuItemConstructorOptions = { type: 'separator' }
  /** Electron's own labels are English whatever the language. */
  const role = (name: keyof typeof words.roles): MenuItemConstructorOptions => ({ role: name, label: words.roles[name] })
  const go = (path: string) => () => command({ command: 'go', path })
  const settings: MenuItemConstructorOptions = { label: words.settings, accelerator: 'CmdOrCtrl+,', click: go('/settings') }
  const leave: MenuItemConstructorOptions = {
    label: platform === 'win32' ? words.exit : words.quit,
    accelerator: 'CmdOrCtrl+Q',
    click: quit,
  }
  const mac: MenuItemConstructorOptions = {
    label: 'Deckhand',
    submenu: [role('about'), line, settings, line, role('hide'), role('hideOthers'), role('unhide'), line, leave],
  }
  return [
    ...(isMac ? [mac] : []),
    {
      label: words.file,
      submenu: [
        { label: words.newChat, accelerator: 'CmdOrCtrl+N', click: go('/chat') },
        ...(isMac ? [] : [settings]),
        line,
        role('close'),
        ...(isMac ? [] : [leave]),
      ],
    },
    {
      role: 'editMenu',
      label: words.edit,
      submenu: [role('undo'), role('redo'), line, role('cut'), role('copy'), role('paste'), role('delete'), line, role('selectAll')],
    },
    {
      label: words.go,
      submenu: [
        ...SCREENS.map(([screen, path, key]) => ({ label: words.screens[screen], accelerator: `CmdOrCtrl+${key}`, click: go(path) })),
        line,
        { label: words.palette, accelerator: 'CmdOrCtrl+K', click: () => command({ command: 'palette' }) },
      ],
    },
    {
      label: words.view,
      submenu: [
        role('resetZoom'),
        role('zoomIn'),
        role('zoomOut'),
        line,
        role('togglefullscreen'),
        ...(development ? ([line, { role: 'reload' }, { role: 'toggleDevTools' }] as const) : []),
      ],
    },
    {
      role: 'windowMenu',
      label: words.window,
      submenu: [role('minimize'), role('zoom'), ...(isMac ? [line, role('front')] : [role('close')])],
    },
    {
      label: words.help,
      submenu: [
        { label: words.shortcuts, accelerator: 'CmdOrCtrl+/', click: () => command({ command: 'shortcuts' }) },
        { label: words.logs, click: showLogs },
      ],
    },
  ]
}
