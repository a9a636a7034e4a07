import type { MenuItemConstructorOptions } from 'electron'
import type { TextKey } from '../../resources/locales/texts.ts'
import type { Translate } from '../../resources/locales/translate.ts'
import type { DesktopCommand } from '../contract/desktop-api.ts'
import { menuLabel } from '../desktop/tray-menu.ts'

export type MenuDeps = {
  platform: NodeJS.Platform
  development: boolean
  command: (command: DesktopCommand) => void
  openInBrowser: () => void
  showLogs: () => void
  quit: () => void
  t: Translate
}

type Role<K = TextKey> = K extends `desktop.menu.roles.${infer Name}` ? Name : never

/** The screens of the navigation in its order; the settings are elsewhere. The first nine have a shortcut. */
const SCREENS = [
  ['home', '/'],
  ['chat', '/chat'],
  ['approvals', '/approvals'],
  ['activity', '/activity'],
  ['automations', '/automations'],
  ['code', '/code'],
  ['agents', '/agents'],
  ['channels', '/channels'],
  ['connections', '/connections'],
  ['skills', '/skills'],
  ['models', '/models'],
  ['usage', '/usage'],
] as const
const NEW_CHAT = '/chat?write=1'

/** The app's menu, on every system. It shows the shortcuts, and on macOS makes copy and paste work. */
export function menuTemplate({ platform, development, command, openInBrowser, showLogs, quit, t }: MenuDeps): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin'
  const line: MenuItemConstructorOptions = { type: 'separator' }
  /** Electron's own labels are always English. */
  const role = (name: Role): MenuItemConstructorOptions => ({ role: name, label: t(`desktop.menu.roles.${name}`) })
  const go = (path: string) => () => command({ command: 'go', path })
  const settings: MenuItemConstructorOptions = { label: t('desktop.menu.settings'), accelerator: 'CmdOrCtrl+,', click: go('/settings') }
  const leave: MenuItemConstructorOptions = {
    label: platform === 'win32' ? t('desktop.menu.exit') : t('desktop.menu.quit'),
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
      label: t('desktop.menu.file'),
      submenu: [
        { label: t('desktop.menu.newChat'), accelerator: 'CmdOrCtrl+N', click: go(NEW_CHAT) },
        ...(isMac ? [] : [settings]),
        line,
        role('close'),
        ...(isMac ? [] : [leave]),
      ],
    },
    {
      role: 'editMenu',
      label: t('desktop.menu.edit'),
      submenu: [role('undo'), role('redo'), line, role('cut'), role('copy'), role('paste'), role('delete'), line, role('selectAll')],
    },
    {
      label: t('desktop.menu.go'),
      submenu: [
        ...SCREENS.map(([screen, path], at) => ({
          label: menuLabel(t(`shell.nav.${screen}`)),
          ...(at < 9 && { accelerator: `CmdOrCtrl+${at + 1}` }),
          click: go(path),
        })),
        line,
        { label: t('desktop.menu.palette'), accelerator: 'CmdOrCtrl+K', click: () => command({ command: 'palette' }) },
      ],
    },
    {
      label: t('desktop.menu.view'),
      submenu: [
        role('resetZoom'),
        role('zoomIn'),
        role('zoomOut'),
        line,
        role('togglefullscreen'),
        line,
        { label: t('desktop.menu.openInBrowser'), click: openInBrowser },
        ...(development ? ([line, { role: 'reload' }, { role: 'toggleDevTools' }] as const) : []),
      ],
    },
    {
      role: 'windowMenu',
      label: t('desktop.menu.window'),
      submenu: [role('minimize'), role('zoom'), ...(isMac ? [line, role('front')] : [role('close')])],
    },
    {
      label: t('desktop.menu.help'),
      submenu: [
        { label: t('desktop.menu.shortcuts'), accelerator: 'CmdOrCtrl+/', click: () => command({ command: 'shortcuts' }) },
        { label: t('desktop.menu.logs'), click: showLogs },
      ],
    },
  ]
}
