import Activity from 'lucide-solid/icons/activity'
import BookOpen from 'lucide-solid/icons/book-open'
import Bot from 'lucide-solid/icons/bot'
import Cable from 'lucide-solid/icons/cable'
import ChartColumn from 'lucide-solid/icons/chart-column'
import CodeXml from 'lucide-solid/icons/code-xml'
import House from 'lucide-solid/icons/house'
import KeyRound from 'lucide-solid/icons/key-round'
import MessageSquare from 'lucide-solid/icons/message-square'
import Send from 'lucide-solid/icons/send'
import ShieldCheck from 'lucide-solid/icons/shield-check'
import Settings from 'lucide-solid/icons/settings-2'
import Zap from 'lucide-solid/icons/zap'
import type { TextsUnder } from '../lib/language.ts'
import type { Icon } from '../ui/icon.ts'

/** The screens in the order of the navigation. A new screen is one line here and one route in app.tsx. */
export type ScreenLink = {
  path: string
  icon: Icon
  name: TextsUnder<'shell.nav'>
  /** Pressed after `g`. */
  key: string
  /** In the bar at the bottom of a phone. The others are under "More". */
  onPhone: boolean
}

export const SCREENS: ScreenLink[] = [
  { path: '/', icon: House, name: 'home', key: 'h', onPhone: true },
  { path: '/chat', icon: MessageSquare, name: 'chat', key: 'c', onPhone: true },
  { path: '/approvals', icon: ShieldCheck, name: 'approvals', key: 'p', onPhone: true },
  { path: '/activity', icon: Activity, name: 'activity', key: 'a', onPhone: true },
  { path: '/automations', icon: Zap, name: 'automations', key: 'w', onPhone: false },
  { path: '/code', icon: CodeXml, name: 'code', key: 'd', onPhone: false },
  { path: '/agents', icon: Bot, name: 'agents', key: 'b', onPhone: false },
  { path: '/channels', icon: Send, name: 'channels', key: 'n', onPhone: false },
  { path: '/connections', icon: Cable, name: 'connections', key: 'o', onPhone: false },
  { path: '/skills', icon: BookOpen, name: 'skills', key: 'k', onPhone: false },
  { path: '/models', icon: KeyRound, name: 'models', key: 'm', onPhone: false },
  { path: '/usage', icon: ChartColumn, name: 'usage', key: 'u', onPhone: false },
  { path: '/settings', icon: Settings, name: 'settings', key: 's', onPhone: false },
]
