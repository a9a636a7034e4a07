import CalendarClock from 'lucide-solid/icons/calendar-clock'
import CircleX from 'lucide-solid/icons/circle-x'
import Keyboard from 'lucide-solid/icons/keyboard'
import MessageSquarePlus from 'lucide-solid/icons/message-square-plus'
import Monitor from 'lucide-solid/icons/monitor'
import Moon from 'lucide-solid/icons/moon'
import Plus from 'lucide-solid/icons/plus'
import Send from 'lucide-solid/icons/send'
import Settings from 'lucide-solid/icons/settings-2'
import Sun from 'lucide-solid/icons/sun'
import Webhook from 'lucide-solid/icons/webhook'
import Bot from 'lucide-solid/icons/bot'
import OctagonX from 'lucide-solid/icons/octagon-x'
import Scale from 'lucide-solid/icons/scale'
import type { Agent } from '../../src-runner/contract/agents.ts'
import { words } from '../kit/words/words.ts'
import type { Theme } from '../platform/desktop.ts'
import type { Command } from '../ui/CommandPalette.tsx'
import type { Brake } from './Brake.tsx'
import { NEW_CHAT } from '../routes/chat/new-chat.ts'
import { SETTINGS_SECTIONS } from '../routes/settings/sections.ts'
import { SCREENS } from './screens.ts'

export type CommandDeps = { go: (path: string) => void; changeTheme: (theme: Theme) => void; showShortcuts: () => void; brake: Brake }

/** Everything the command palette can do: each screen, each agent, each action. */
export function commandsFor(agents: readonly Agent[], deps: CommandDeps): Command[] {
  const { shell } = words()
  const text = shell.palette
  const go = (path: string) => () => deps.go(path)
  const action = (id: string, label: string, icon: Command['icon'], run: () => void, keys?: string): Command => ({
    id,
    group: text.actions,
    label,
    icon,
    run,
    keys,
  })
  return [
    ...SCREENS.map((screen): Command => ({
      id: `screen ${screen.path}`,
      group: text.screens,
      label: shell.nav[screen.name],
      icon: screen.icon,
      keys: `g ${screen.key}`,
      run: go(screen.path),
    })),
    ...SETTINGS_SECTIONS.map((section): Command => ({
      id: `settings ${section}`,
      group: shell.nav.settings,
      label: words().settings.sections[section],
      icon: Settings,
      run: go(`/settings/${section}`),
    })),
    ...agents.map((agent): Command => ({
      id: `agent ${agent.id}`,
      group: text.agents,
      label: text.chatWith(agent.name),
      icon: Bot,
      run: go(`${NEW_CHAT}&agent=${agent.id}`),
    })),
    action('new-chat', text.newChat, MessageSquarePlus, go(NEW_CHAT), 'c'),
    action('hand-over', text.handOver, Send, go('/?compose=1')),
    action('new-agent', text.newAgent, Plus, go('/agents/new')),
    action('new-webhook', text.newWebhook, Webhook, go('/automations/webhooks/new')),
    action('new-schedule', text.newSchedule, CalendarClock, go('/automations/schedules/new')),
    action('add-provider', text.addProvider, Plus, go('/models?add=1')),
    action('failed', text.failedJobs, CircleX, go('/activity?status=failed')),
    action('rules', text.rules, Scale, go('/rules')),
    ...(deps.brake.isOn() ? [] : [action('brake', text.brakeOn, OctagonX, deps.brake.pull)]),
    action('shortcuts', text.shortcuts, Keyboard, deps.showShortcuts, '?'),
    action('light', text.themeLight, Sun, () => deps.changeTheme('light')),
    action('dark', text.themeDark, Moon, () => deps.changeTheme('dark')),
    action('system', text.themeSystem, Monitor, () => deps.changeTheme('system')),
  ]
}
