import { A, useParams, useSearchParams } from '@solidjs/router'
import Bell from 'lucide-solid/icons/bell'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import ChevronRight from 'lucide-solid/icons/chevron-right'
import Gauge from 'lucide-solid/icons/gauge'
import HeartPulse from 'lucide-solid/icons/heart-pulse'
import Info from 'lucide-solid/icons/info'
import KeyRound from 'lucide-solid/icons/key-round'
import Monitor from 'lucide-solid/icons/monitor'
import Search from 'lucide-solid/icons/search'
import SlidersHorizontal from 'lucide-solid/icons/sliders-horizontal'
import Users from 'lucide-solid/icons/users'
import Webhook from 'lucide-solid/icons/webhook'
import Wrench from 'lucide-solid/icons/wrench'
import { For, type JSX, Match, Show, Switch } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { useMay } from '../../api/may.ts'
import { matchesWords, searchPart } from '../../lib/text.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { ArrowList } from '../../ui/ArrowList.tsx'
import type { Icon } from '../../ui/icon.ts'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { About } from './About.tsx'
import { AccessTokens } from './AccessTokens.tsx'
import { Addresses } from './Addresses.tsx'
import { AgentTools } from './AgentTools.tsx'
import { CodingPrograms } from './CodingPrograms.tsx'
import { Backups } from './Backups.tsx'
import { DataAndLogs } from './DataAndLogs.tsx'
import { ExportImport } from './ExportImport.tsx'
import { HealthChecks } from './HealthCheck.tsx'
import { General } from './General.tsx'
import { JobSettings } from './JobSettings.tsx'
import { Keychain } from './Keychain.tsx'
import { LogViewer } from './LogViewer.tsx'
import { Notifications } from './Notifications.tsx'
import { OtherPrograms } from './OtherPrograms.tsx'
import { OutsideWebhooks } from './OutsideWebhooks.tsx'
import { Reset } from './Reset.tsx'
import { Retention } from './Retention.tsx'
import { Sharing } from './Sharing.tsx'
import { allSettings, settingHref, SETTINGS_SECTIONS, type SettingsSection } from './sections.ts'
import { People } from './People.tsx'
import { Storage } from './Storage.tsx'
import { Trouble } from './Trouble.tsx'
import { Updates } from './Updates.tsx'
import { useNamedPart } from './use-named-part.ts'

/** The content of each section. A new setting is a row here and a line in `sections.ts`. */
const CONTENT: Record<SettingsSection, { icon: Icon; content: () => JSX.Element }> = {
  general: { icon: SlidersHorizontal, content: () => <General /> },
  jobs: { icon: Gauge, content: () => <JobSettings /> },
  notifications: { icon: Bell, content: () => <Notifications /> },
  tools: {
    icon: Wrench,
    content: () => (
      <>
        <AgentTools />
        <CodingPrograms />
      </>
    ),
  },
  webhooks: { icon: Webhook, content: () => <OutsideWebhooks /> },
  people: { icon: Users, content: () => <People /> },
  tokens: {
    icon: KeyRound,
    content: () => (
      <>
        <OtherPrograms />
        <AccessTokens />
      </>
    ),
  },
  computer: { icon: Monitor, content: () => <Computer /> },
  health: {
    icon: HeartPulse,
    content: () => (
      <>
        <HealthChecks />
        <Trouble />
        <LogViewer />
      </>
    ),
  },
  about: {
    icon: Info,
    content: () => (
      <>
        <UpdatesInApp />
        <About />
      </>
    ),
  },
}

/** Members see them as they are. */
const OF_OWNERS: ReadonlySet<SettingsSection> = new Set(['jobs', 'notifications', 'tools', 'webhooks'])

/** Settings that belong to no agent. On a phone, the list of sections comes first, and a section fills the screen. */
export function SettingsScreen() {
  const params = useParams<{ section?: SettingsSection }>()
  const [search] = useSearchParams<{ q?: string }>()
  const section = () => params.section ?? 'general'
  const onPhoneSection = () => params.section !== undefined
  const may = useMay()
  let parts!: HTMLDivElement
  useNamedPart(() => parts)
  return (
    <div class="flex h-full min-h-0">
      <Sections current={section()} isBehind={onPhoneSection()} />
      <div
        class={`scroll-quiet relative min-w-0 flex-1 overflow-y-auto [scrollbar-gutter:stable] ${onPhoneSection() ? '' : 'max-md:hidden'}`}
      >
        <div class="mx-auto w-full max-w-3xl px-8 py-7 max-lg:px-5 max-md:px-4 max-md:py-4">
          <div class="md:hidden">
            <A
              href={`/settings${searchPart(search.q)}`}
              class="-ml-1 mb-2 inline-flex min-h-10 items-center gap-1 pr-2 text-sm text-ink-2 hover:text-ink"
            >
              <ChevronLeft size={16} aria-hidden="true" />
              {t('settings.title')}
            </A>
            <h1 class="sr-only">{t(`settings.sections.${section()}`)}</h1>
          </div>
          <Show when={OF_OWNERS.has(section()) && !may('updateSettings')}>
            <p class="pb-4 text-sm text-ink-2">{t('settings.ownersOnly')}</p>
          </Show>
          <div ref={(element) => (parts = element)} class="flex flex-col gap-6">
            <Dynamic component={CONTENT[section()].content} />
          </div>
        </div>
      </div>
    </div>
  )
}

/** The sections and the search, whose results replace them. */
function Sections(props: { current: SettingsSection; isBehind: boolean }) {
  const desktop = useDesktop()
  // In the URL, so that a reload keeps it. The results keep it too, so that the person can try the next one.
  const [search, setSearch] = useSearchParams<{ q?: string }>()
  const query = () => search.q ?? ''
  const found = () =>
    allSettings(desktop.inApp).filter(({ section, label, hint }) =>
      matchesWords(`${t(`settings.sections.${section}`)} ${label} ${hint ?? ''}`, query()),
    )
  return (
    <div
      class={`scroll-quiet flex w-60 shrink-0 flex-col overflow-y-auto border-r border-line px-3 py-5 max-lg:w-50 max-md:w-full max-md:border-r-0 max-md:px-4 ${props.isBehind ? 'max-md:hidden' : ''}`}
    >
      <h1 class="px-2 pb-3 text-xl font-semibold tracking-tight text-ink">{t('settings.title')}</h1>
      <TextField
        class="pb-3"
        type="search"
        label={t('settings.search')}
        hideLabel
        placeholder={t('settings.search')}
        icon={Search}
        value={query()}
        onValue={(q) => setSearch({ q: q === '' ? undefined : q }, { replace: true })}
      />
      <Switch>
        <Match when={query().trim() === ''}>
          <nav aria-label={t('settings.title')}>
            <ArrowList label={t('settings.sectionList')} class="flex flex-col gap-0.5">
              <For each={SETTINGS_SECTIONS}>
                {(section) => (
                  <li>
                    <A
                      data-row
                      href={`/settings/${section}`}
                      aria-current={section === props.current ? 'page' : undefined}
                      class={`flex min-h-8 items-center gap-2.5 rounded-md px-2 py-1 text-ink-2 hover:bg-hover hover:text-ink max-md:min-h-11 max-md:text-md ${section === props.current ? 'md:bg-pressed md:font-medium md:text-ink' : ''}`}
                    >
                      <Dynamic component={CONTENT[section].icon} size={16} class="shrink-0" aria-hidden="true" />
                      <span class="min-w-0 flex-1">{t(`settings.sections.${section}`)}</span>
                      <ChevronRight size={16} class="text-ink-3 md:hidden" aria-hidden="true" />
                    </A>
                  </li>
                )}
              </For>
            </ArrowList>
          </nav>
        </Match>
        <Match when={found().length > 0}>
          <ArrowList label={t('settings.found')} class="flex flex-col gap-0.5">
            <For each={found()}>
              {(setting) => (
                <li>
                  <A
                    data-row
                    href={settingHref(setting, query())}
                    class="flex min-h-10 flex-col justify-center rounded-md px-2 py-1 text-ink hover:bg-hover"
                  >
                    <span class="wrap-anywhere">{setting.label}</span>
                    <span class="text-xs text-ink-3">{t(`settings.sections.${setting.section}`)}</span>
                  </A>
                </li>
              )}
            </For>
          </ArrowList>
        </Match>
      </Switch>
      <p role="status" class={query().trim() !== '' && found().length === 0 ? 'px-2 text-ink-3' : 'sr-only'}>
        {query().trim() === ''
          ? ''
          : found().length === 0
            ? t('common.noMatchFor', { query: query().trim() })
            : t('settings.foundCount', { count: found().length })}
      </p>
    </div>
  )
}

function UpdatesInApp() {
  const desktop = useDesktop()
  return <Show when={desktop.state()}>{(state) => <Updates state={state()} />}</Show>
}

/** Settings of the machine, which are only available in the app. */
function Computer() {
  const desktop = useDesktop()
  return (
    <Show
      when={desktop.inApp}
      fallback={
        <Panel title={t('settings.sections.computer')} flush>
          <Row label={t('common.availableInApp')} hint={t('settings.computerWhy')} />
        </Panel>
      }
    >
      <Show when={desktop.state()}>
        {(state) => (
          <>
            <Sharing sharing={state().sharing} />
            <Addresses state={state()} />
            <Keychain vault={state().vault} />
            <DataAndLogs state={state()} />
            <Backups />
            <ExportImport />
            <Storage />
            <Retention />
            <Reset />
          </>
        )}
      </Show>
    </Show>
  )
}
