import { NoticeKind } from '../../../src-runner/contract/notifications.ts'
import type { Words } from '../../kit/words/words.ts'

/** Each is an address of its own: `/settings/webhooks`. */
export const SETTINGS_SECTIONS = ['general', 'jobs', 'notifications', 'tools', 'webhooks', 'computer', 'health', 'about'] as const
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]

/** One thing that can be searched for. `id` is the id of its row: `/settings/general#theme`. */
export type Setting = { section: SettingsSection; id: string; label: string; hint?: string }

export function settingHref({ section, id }: Pick<Setting, 'section' | 'id'>): string {
  return `/settings/${section}#${id}`
}

/** Everything that the settings hold, in their order. What only the app can do is left out in a browser. */
export function allSettings({ settings: text }: Words, inApp: boolean): Setting[] {
  const { general, jobs, notifications, tools, outside, servers, keys, data, doctor, trouble, about } = text
  const of = (section: SettingsSection) => (id: string, label: string, hint?: string) => ({ section, id, label, hint })
  const [inGeneral, inJobs, inNotifications, inTools] = [of('general'), of('jobs'), of('notifications'), of('tools')]
  const [inWebhooks, inComputer, inHealth, inAbout] = [of('webhooks'), of('computer'), of('health'), of('about')]
  const app = (settings: Setting[]) => (inApp ? settings : [])
  return [
    inGeneral('theme', general.theme, Object.values(general.themes).join(' ')),
    inGeneral('language', general.language, Object.values(general.languages).join(' ')),
    ...app([
      inGeneral('start-at-login', general.startAtLogin, general.startAtLoginHint),
      inGeneral('close-to-tray', general.closeToTray, general.closeToTrayHint),
    ]),
    inJobs('concurrency', jobs.concurrency, jobs.concurrencyHint),
    inJobs('day-budget', jobs.dayBudget, jobs.dayBudgetHint),
    inJobs('rules', jobs.rules, jobs.rulesHint),
    ...NoticeKind.options.map((kind) => inNotifications(`notify-${kind}`, notifications.kinds[kind])),
    inNotifications('quiet-hours', notifications.quiet, notifications.quietHint),
    inTools('sandbox', tools.box, tools.boxHint),
    inTools('programs', tools.programs, tools.programsHint),
    inTools('web-search', tools.search, `${tools.searchHint} ${Object.values(tools.kinds).join(' ')}`),
    inTools('hosts', tools.hosts, tools.hostsHint),
    inWebhooks('address', outside.address, outside.about),
    inWebhooks('listener', outside.listener, outside.listenerHint),
    inWebhooks('leads-to', outside.leadsTo, outside.leadsToHint),
    inWebhooks('tunnel', outside.tunnel, outside.tunnelNone),
    ...app([
      inComputer('dashboard', servers.dashboard, `${servers.dashboardHint} ${servers.port}`),
      inComputer('runner', servers.runner, `${servers.runnerHint} ${servers.port}`),
      inComputer('secret', servers.secret, servers.secretHint),
      inComputer('keychain', keys.title, keys.keychain),
      inComputer('data-dir', data.dataDir, data.dataDirHint),
      inComputer('logs-dir', data.logsDir),
      inComputer('log-level', data.logLevel),
    ]),
    inHealth('checks', doctor.title, `${doctor.about} ${Object.values(doctor.names).join(' ')}`),
    ...app([inHealth('restart', trouble.restart, trouble.restartHint), inHealth('safe-mode', trouble.safeMode, trouble.safeModeHint)]),
    inHealth('first-start', trouble.firstStart, trouble.firstStartHint),
    ...app([inAbout('version', about.version), inAbout('platform', about.platform, about.electron)]),
    inAbout('api', about.api, about.apiHint),
    inAbout('shortcuts', about.shortcuts),
    inAbout('licenses', about.licenses, about.licensesHint),
  ]
}
