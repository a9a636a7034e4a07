import { NotificationKind } from '../../../src-runner/contract/notifications.ts'
import { CODING_PROGRAM_NAMES, CodingCli } from '../../../src-runner/contract/coding-programs.ts'
import { HealthCheck } from '../../../src-runner/contract/doctor.ts'
import { RetentionKind } from '../../../src-runner/contract/retention.ts'
import { WebSearchKind } from '../../../src-runner/contract/settings.ts'
import { LANGUAGES } from '../../../resources/locales/texts.ts'
import { languageName, t } from '../../lib/language.ts'
import { searchPart } from '../../lib/text.ts'

/** The sections; each has its own path, such as `/settings/webhooks`. */
export const SETTINGS_SECTIONS = [
  'general',
  'jobs',
  'notifications',
  'tools',
  'webhooks',
  'people',
  'tokens',
  'computer',
  'health',
  'about',
] as const
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]

/** A setting for the search. `id` is the id of its row: `/settings/general#theme`. */
export type Setting = { section: SettingsSection; id: string; label: string; hint?: string }

/** `q`: the search that found it. */
export function settingHref({ section, id }: Pick<Setting, 'section' | 'id'>, q?: string): string {
  return `/settings/${section}${searchPart(q)}#${id}`
}

/** All settings in their order, without those of the app when in a browser. */
export function allSettings(inApp: boolean): Setting[] {
  const of = (section: SettingsSection) => (id: string, label: string, hint?: string) => ({ section, id, label, hint })
  const [inGeneral, inJobs, inNotifications, inTools] = [of('general'), of('jobs'), of('notifications'), of('tools')]
  const inPeople = of('people')
  const [inWebhooks, inComputer, inHealth, inAbout] = [of('webhooks'), of('computer'), of('health'), of('about')]
  const app = (settings: Setting[]) => (inApp ? settings : [])
  return [
    inGeneral(
      'theme',
      t('settings.general.theme'),
      (['light', 'dark'] as const).map((theme) => t(`settings.general.themes.${theme}`)).join(' '),
    ),
    inGeneral('language', t('settings.general.language'), LANGUAGES.map(languageName).join(' ')),
    ...app([
      inGeneral('start-at-login', t('settings.general.startAtLogin'), t('settings.general.startAtLoginHint')),
      inGeneral('close-to-tray', t('settings.general.closeToTray'), t('settings.general.closeToTrayHint')),
    ]),
    inJobs('concurrency', t('settings.jobs.concurrency'), t('settings.jobs.concurrencyHint')),
    inJobs('day-budget', t('settings.jobs.dayBudget'), t('settings.jobs.dayBudgetHint')),
    inJobs('rules', t('settings.jobs.rules'), t('settings.jobs.rulesHint')),
    ...NotificationKind.options.map((kind) => inNotifications(`notify-${kind}`, t(`settings.notifications.kinds.${kind}`))),
    inNotifications('quiet-hours', t('settings.notifications.quiet'), t('settings.notifications.quietHint')),
    inTools('sandbox', t('settings.tools.sandbox'), t('settings.tools.sandboxHint')),
    inTools('programs', t('settings.tools.programs'), t('settings.tools.programsHint')),
    inTools(
      'web-search',
      t('settings.tools.search'),
      `${t('settings.tools.searchHint')} ${WebSearchKind.options.map((kind) => t(`settings.tools.kinds.${kind}`)).join(' ')}`,
    ),
    inTools('hosts', t('settings.tools.hosts'), t('settings.tools.hostsHint')),
    ...CodingCli.options.map((cli) => inTools(`coding-${cli}`, CODING_PROGRAM_NAMES[cli], t('settings.coding.title'))),
    inWebhooks('address', t('settings.outside.address'), t('settings.outside.about')),
    inWebhooks('listener', t('settings.outside.listener'), t('settings.outside.listenerHint')),
    inWebhooks('leads-to', t('settings.outside.leadsTo'), t('settings.outside.leadsToHint')),
    inWebhooks('tunnel', t('settings.outside.tunnel'), t('settings.outside.tunnelNone')),
    inPeople('people', t('settings.people.people'), t('settings.people.peopleHint')),
    inPeople('devices', t('settings.people.devices'), t('settings.people.devicesHint')),
    of('tokens')('other-programs', t('settings.programs.title'), `${t('settings.programs.about')} MCP Claude Code Cursor VS Code`),
    of('tokens')('mcp-approvals', t('settings.programs.approvals'), t('settings.programs.approvalsHint')),
    of('tokens')('access-tokens', t('settings.tokens.title'), t('settings.tokens.about')),
    ...app([
      inComputer('encrypt', t('settings.sharing.encrypt'), t('settings.sharing.encryptHint')),
      inComputer('share', t('settings.sharing.share'), `${t('settings.sharing.title')} ${t('settings.sharing.shareHint')}`),
      inComputer('dashboard', t('settings.servers.dashboard'), `${t('settings.servers.dashboardHint')} ${t('settings.servers.port')}`),
      inComputer('runner', t('settings.servers.runner'), `${t('settings.servers.runnerHint')} ${t('settings.servers.port')}`),
      inComputer('secret', t('settings.servers.secret'), t('settings.servers.secretHint')),
      inComputer('keychain', t('settings.keys.title'), t('settings.keys.keychain')),
      inComputer('data-dir', t('settings.data.dataDir'), t('settings.data.dataDirHint')),
      inComputer('logs-dir', t('settings.data.logsDir')),
      inComputer('log-level', t('settings.data.logLevel')),
      inComputer('backups', t('settings.backups.daily'), t('settings.backups.dailyHint')),
      inComputer('backup-folder', t('settings.backups.folder'), t('settings.backups.folderHint')),
      inComputer('restore', t('settings.backups.restore'), t('settings.backups.restoreHint')),
      inComputer('export', t('settings.export.export'), t('settings.export.exportHint')),
      inComputer('import', t('settings.export.import'), t('settings.export.importHint')),
      inComputer('storage', t('settings.storage.title'), t('settings.storage.about')),
      ...RetentionKind.options.map((kind) =>
        inComputer(
          `keep-${kind}`,
          t(`settings.retention.kinds.${kind}`),
          `${t('settings.retention.title')} ${t(`settings.retention.hints.${kind}`)}`,
        ),
      ),
      inComputer('reset', t('settings.reset.label'), t('settings.reset.hint')),
    ]),
    inHealth(
      'checks',
      t('settings.healthCheck.title'),
      `${t('settings.healthCheck.about')} ${HealthCheck.shape.name.options.map((name) => t(`settings.healthCheck.names.${name}`)).join(' ')}`,
    ),
    ...app([
      inHealth('restart', t('settings.trouble.restart'), t('settings.trouble.restartHint')),
      inHealth('safe-mode', t('settings.trouble.safeMode'), t('settings.trouble.safeModeHint')),
      inHealth('diagnostics', t('settings.diagnostics.label'), t('settings.diagnostics.hint')),
      inHealth('log', t('settings.logs.title'), t('settings.logs.about')),
    ]),
    inHealth('first-start', t('settings.trouble.firstStart'), t('settings.trouble.firstStartHint')),
    ...app([
      inAbout('updates', t('settings.updates.title'), t('settings.updates.check')),
      inAbout('version', t('settings.about.version')),
      inAbout('platform', t('settings.about.platform'), t('settings.about.electron')),
    ]),
    inAbout('api', t('settings.about.api'), t('settings.about.apiHint')),
    inAbout('shortcuts', t('settings.about.shortcuts')),
    inAbout('licenses', t('settings.about.licenses'), t('settings.about.licensesHint')),
  ]
}
