import Cable from 'lucide-solid/icons/cable'
import CalendarClock from 'lucide-solid/icons/calendar-clock'
import CircleX from 'lucide-solid/icons/circle-x'
import CodeXml from 'lucide-solid/icons/code-xml'
import Keyboard from 'lucide-solid/icons/keyboard'
import MessageSquarePlus from 'lucide-solid/icons/message-square-plus'
import Monitor from 'lucide-solid/icons/monitor'
import Moon from 'lucide-solid/icons/moon'
import Plus from 'lucide-solid/icons/plus'
import Send from 'lucide-solid/icons/send'
import Settings from 'lucide-solid/icons/settings-2'
import Sun from 'lucide-solid/icons/sun'
import Webhook from 'lucide-solid/icons/webhook'
import BookOpen from 'lucide-solid/icons/book-open'
import Bot from 'lucide-solid/icons/bot'
import OctagonX from 'lucide-solid/icons/octagon-x'
import Scale from 'lucide-solid/icons/scale'
import type { Agent } from '../../src-runner/contract/agents.ts'
import type { useMay } from '../api/may.ts'
import { t } from '../lib/language.ts'
import type { Theme } from '../platform/desktop.ts'
import type { Command } from '../ui/CommandPalette.tsx'
import type { PauseAll } from './PauseAll.tsx'
import { NEW_CHAT } from '../routes/chat/new-chat.ts'
import { SETTINGS_SECTIONS } from '../routes/settings/sections.ts'
import { SCREENS } from './screens.ts'

export type CommandDeps = {
  go: (path: string) => void
  changeTheme: (theme: Theme) => void
  showShortcuts: () => void
  pauseAll: PauseAll
  may: ReturnType<typeof useMay>
}

/** The commands of the palette: screens, settings, agents and actions. */
export function commandsFor(agents: readonly Agent[], deps: CommandDeps): Command[] {
  const go = (path: string) => () => deps.go(path)
  const action = (id: string, label: string, icon: Command['icon'], run: () => void, keys?: string): Command => ({
    id,
    group: t('shell.palette.actions'),
    label,
    icon,
    run,
    keys,
  })
  return [
    ...SCREENS.map((screen): Command => ({
      id: `screen ${screen.path}`,
      group: t('shell.palette.screens'),
      label: t(`shell.nav.${screen.name}`),
      icon: screen.icon,
      keys: `g ${screen.key}`,
      run: go(screen.path),
    })),
    ...SETTINGS_SECTIONS.map((section): Command => ({
      id: `settings ${section}`,
      group: t('shell.nav.settings'),
      label: t(`settings.sections.${section}`),
      icon: Settings,
      run: go(`/settings/${section}`),
    })),
    ...agents.map((agent): Command => ({
      id: `agent ${agent.id}`,
      group: t('shell.palette.agents'),
      label: t('shell.palette.chatWith', { agent: agent.name }),
      icon: Bot,
      run: go(`${NEW_CHAT}&agent=${agent.id}`),
    })),
    action('new-chat', t('shell.palette.newChat'), MessageSquarePlus, go(NEW_CHAT), 'c'),
    action('hand-over', t('shell.palette.runJob'), Send, go('/?compose=1')),
    action('new-agent', t('shell.palette.newAgent'), Plus, go('/agents/new')),
    ...(deps.may('createCodeTask') ? [action('new-code-task', t('shell.palette.newCodeTask'), CodeXml, go('/code?new=1'))] : []),
    action('new-webhook', t('shell.palette.newWebhook'), Webhook, go('/automations/webhooks/new')),
    action('new-schedule', t('shell.palette.newSchedule'), CalendarClock, go('/automations/schedules/new')),
    ...(deps.may('createProvider') ? [action('add-provider', t('shell.palette.addProvider'), Plus, go('/models?add=1'))] : []),
    ...(deps.may('createCredential') ? [action('connect-account', t('shell.palette.connectAccount'), Cable, go('/connections'))] : []),
    ...(deps.may('createMcpServer') ? [action('add-mcp-server', t('connections.mcp.add'), Plus, go('/connections?add=mcp'))] : []),
    ...(deps.may('installSkill') ? [action('install-skill', t('shell.palette.installSkill'), BookOpen, go('/skills?install=1'))] : []),
    ...(deps.may('createSkill') ? [action('new-skill', t('skills.edit.open'), BookOpen, go('/skills/new'))] : []),
    action('failed', t('shell.palette.failedJobs'), CircleX, go('/activity?status=failed')),
    action('rules', t('shell.palette.rules'), Scale, go('/rules')),
    ...(deps.pauseAll.isOn() ? [] : [action('pauseAll', t('shell.palette.pauseAllOn'), OctagonX, deps.pauseAll.pause)]),
    action('shortcuts', t('shell.palette.shortcuts'), Keyboard, deps.showShortcuts, '?'),
    action('light', t('shell.palette.themeLight'), Sun, () => deps.changeTheme('light')),
    action('dark', t('shell.palette.themeDark'), Moon, () => deps.changeTheme('dark')),
    action('system', t('shell.palette.themeSystem'), Monitor, () => deps.changeTheme('system')),
  ]
}
