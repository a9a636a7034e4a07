import type { MenuItemConstructorOptions } from 'electron'
import type { DesktopCommand } from '../contract/desktop-api.ts'

export type MenuDeps = {
  platform: NodeJS.Platform
  development: boolean
  command: (command: DesktopCommand) => void
  showLogs: () => void
  quit: () => void
}

const SCREENS = [
  ['Home', '/', '1'],
  ['Chat', '/chat', '2'],
  ['Activity', '/activity', '3'],
  ['Agents', '/agents', '4'],
  ['Models', '/models', '5'],
] as const

/** The app's menu, on every system: it is where shortcuts are found, and on macOS what makes copy and paste work. */
export function menuTemplate({ platform, development, command, showLogs, quit }: MenuDeps): MenuItemConstructorOptions[] {
  const go = (path: string) => () => command({ command: 'go', path })
  const settings: MenuItemConstructorOptions = { label: 'Settings…', accelerator: 'CmdOrCtrl+,', click: go('/settings') }
  const leave: MenuItemConstructorOptions = {
    label: platform === 'win32' ? 'Exit' : 'Quit Deckhand',
    accelerator: 'CmdOrCtrl+Q',
    click: quit,
  }
  const mac: MenuItemConstructorOptions[] =
    platform === 'darwin'
      ? [
          {
            label: 'Deckhand',
            submenu: [
              { role: 'about' },
              { type: 'separator' },
              settings,
              { type: 'separator' },
              { role: 'hide' },
              { role: 'hideOthers' },
              { role: 'unhide' },
              { type: 'separator' },
              leave,
            ],
          },
        ]
      : []
  return [
    ...mac,
    {
      label: 'File',
      submenu: [
        { label: 'New Chat', accelerator: 'CmdOrCtrl+N', click: go('/chat') },
        ...(platform === 'darwin' ? [] : [settings]),
        { type: 'separator' },
        { role: 'close' },
        ...(platform === 'darwin' ? [] : [leave]),
      ],
    },
    { role: 'editMenu' },
    {
      label: 'Go',
      submenu: [
        ...SCREENS.map(([label, path, key]) => ({ label, accelerator: `CmdOrCtrl+${key}`, click: go(path) })),
        { type: 'separator' },
        { label: 'Command Palette…', accelerator: 'CmdOrCtrl+K', click: () => command({ command: 'palette' }) },
      ],
    },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...(development ? ([{ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' }] as const) : []),
      ],
    },
    { role: 'windowMenu' },
    {
      label: 'Help',
      submenu: [
        { label: 'Keyboard Shortcuts', accelerator: 'CmdOrCtrl+/', click: () => command({ command: 'shortcuts' }) },
        { label: 'Show Logs', click: showLogs },
      ],
    },
  ]
}
