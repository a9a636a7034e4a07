import { join } from 'node:path'
import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import type { Supervisor } from '../runner/supervisor.ts'
import type { Speech } from './language.ts'
import { trayItems, type TrayAction, type TrayItem } from './tray-menu.ts'

const CLOCK_MS = 30_000

/** The tray icon. Its menu is rebuilt on every change, because Linux does not show changes of single items. */
export function createTray({
  resources,
  supervisor,
  speech,
  onSettings,
  act,
}: {
  resources: string
  supervisor: Supervisor
  speech: () => Speech
  onSettings: (listener: () => void) => void
  act: (action: TrayAction) => void
}): void {
  const picture = (name: string) => nativeImage.createFromPath(join(resources, name))
  const isMac = process.platform === 'darwin'
  const normal = picture(isMac ? 'trayTemplate.png' : 'tray.png')
  // On macOS the dock shows the count, and a template image has no colour.
  const attention = isMac ? normal : picture('trayAttention.png')
  const tray = new Tray(normal)
  let needsAttention = false
  tray.setToolTip('Deckhand')
  tray.on('click', () => !isMac && act({ do: 'open' }))

  const rebuild = () => {
    const running = supervisor.running()
    const { jobs, approvals } = running
    const items = trayItems({ ...running, runner: supervisor.state(), now: Date.now(), speech: speech() })
    tray.setContextMenu(Menu.buildFromTemplate(items.map((item) => toElectron(item, act))))
    if (needsAttention !== approvals > 0) {
      needsAttention = approvals > 0
      tray.setImage(needsAttention ? attention : normal)
    }
    if (isMac) tray.setTitle(jobs.length > 0 ? String(jobs.length) : '')
  }
  rebuild()
  supervisor.onRunning(rebuild)
  supervisor.onState(rebuild)
  onSettings(rebuild)
  // Elapsed times grow between events.
  setInterval(() => supervisor.running().jobs.length > 0 && rebuild(), CLOCK_MS)
}

function toElectron(item: TrayItem, act: (action: TrayAction) => void): MenuItemConstructorOptions {
  switch (item.kind) {
    case 'line':
      return { type: 'separator' }
    case 'text':
      return { label: item.label, enabled: false }
    case 'action':
      return { label: item.label, click: () => act(item.action) }
    case 'group':
      return { label: item.label, submenu: item.items.map((inner) => toElectron(inner, act)) }
  }
}
