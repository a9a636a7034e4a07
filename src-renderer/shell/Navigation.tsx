import { A, useLocation } from '@solidjs/router'
import Ellipsis from 'lucide-solid/icons/ellipsis'
import Rocket from 'lucide-solid/icons/rocket'
import Search from 'lucide-solid/icons/search'
import { createMemo, For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { useApi } from '../api/ApiProvider.tsx'
import { useJob, useJobCounts, usePendingApprovals, useSettings, useSkills } from '../api/queries.ts'
import { t } from '../lib/language.ts'
import type { Icon } from '../ui/icon.ts'
import { KeyHint } from '../ui/KeyHint.tsx'
import { Mark } from '../ui/Mark.tsx'
import { AccountMenu } from './AccountMenu.tsx'
import { PauseAllButton } from './PauseAll.tsx'
import { type ScreenLink, SCREENS } from './screens.ts'

/** A screen is current on its own path and on those below it. Code tasks belong to Code, other jobs to Activity, rules to Approvals. */
function useIsCurrent() {
  const location = useLocation()
  const job = useJob(() => /^\/jobs\/([^/]+)/.exec(location.pathname)?.[1] ?? null)
  const here = createMemo((before: string) => {
    if (location.pathname === '/rules') return '/approvals'
    if (!location.pathname.startsWith('/jobs/')) return location.pathname
    // Until it is known what kind of job it is, nothing jumps.
    return job.isPending ? before : job.data?.job.isCodeTask ? '/code' : '/activity'
  }, '/activity')
  return (path: string) => here() === path || (path !== '/' && here().startsWith(`${path}/`))
}

const ITEM = 'flex items-center rounded-md text-ink-2 transition-colors duration-100 hover:bg-hover hover:text-ink'

export function SideNavigation(props: { onPalette: () => void }) {
  const isCurrent = useIsCurrent()
  const settings = useSettings()
  const isSetUp = () => settings.data === undefined || settings.data.settings.firstStart === 'done'
  return (
    <aside class="flex w-52 shrink-0 flex-col border-r border-line px-2.5 pt-3 pb-2.5 max-md:hidden">
      <div class="drag-window flex items-center gap-2 px-2 pb-3">
        <Mark />
        <span class="text-md font-semibold tracking-tight">Deckhand</span>
      </div>
      <button
        type="button"
        class="mb-3 flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-ink-3 transition-colors duration-100 hover:border-line-strong hover:text-ink-2"
        onClick={() => props.onPalette()}
      >
        <Search size={14} aria-hidden="true" />
        <span class="min-w-0 flex-1 truncate text-left">{t('shell.searchOrGo')}</span>
        <KeyHint keys="Mod+k" />
      </button>
      {/* In a low window, or with large text, the screens scroll, and what is below them stays in sight. */}
      <nav aria-label={t('shell.nav.label')} class="scroll-quiet -mx-1 flex min-h-0 flex-col gap-0.5 overflow-y-auto px-1 py-0.5">
        <For each={SCREENS}>{(screen) => <SideLink screen={screen} isCurrent={isCurrent(screen.path)} />}</For>
      </nav>
      <div class="mt-auto flex shrink-0 flex-col gap-0.5">
        <Show when={!isSetUp()}>
          <SideItem href="/welcome" icon={Rocket} text={t('shell.nav.setup')} isCurrent={isCurrent('/welcome')} />
        </Show>
        <PauseAllButton class={`${ITEM} min-h-8 w-full gap-2.5 px-2 py-1`} />
        <RunningJobs />
        <AccountMenu />
      </div>
    </aside>
  )
}

function SideLink(props: { screen: ScreenLink; isCurrent: boolean }) {
  return (
    <SideItem href={props.screen.path} icon={props.screen.icon} text={t(`shell.nav.${props.screen.name}`)} isCurrent={props.isCurrent}>
      <Show when={props.screen.name === 'approvals'}>
        <Waiting class="ml-auto" />
      </Show>
      <Show when={props.screen.name === 'skills'}>
        <SkillsToSee />
      </Show>
    </SideItem>
  )
}

/** The number of skills with an update, or which agents do not get before the person has done something. */
function SkillsToSee() {
  const answer = useSkills()
  const count = () => answer.data?.skills.filter(({ status, hasUpdate }) => status !== 'ready' || hasUpdate).length ?? 0
  return (
    <Show when={count() > 0}>
      <span class="ml-auto min-w-4.5 rounded-full bg-accent-soft px-1.5 text-center text-2xs font-semibold text-accent-ink">
        <span aria-hidden="true">{count()}</span>
        <span class="sr-only">, {t('shell.skillsNeedYou', { count: count() })}</span>
      </span>
    </Show>
  )
}

/** The number of pending approvals. */
function Waiting(props: { class?: string }) {
  const approvals = usePendingApprovals()
  return (
    <Show when={approvals.data?.pending}>
      {(count) => (
        <span class={`min-w-4.5 rounded-full bg-warn px-1.5 text-center text-2xs font-semibold text-on-warn ${props.class ?? ''}`}>
          <span aria-hidden="true">{count() > 99 ? '99+' : count()}</span>
          <span class="sr-only">, {t('shell.waiting', { count: count() })}</span>
        </span>
      )}
    </Show>
  )
}

function SideItem(props: { href: string; icon: Icon; text: string; isCurrent: boolean; children?: JSX.Element }) {
  return (
    <A
      href={props.href}
      aria-current={props.isCurrent ? 'page' : undefined}
      class={`${ITEM} min-h-8 shrink-0 gap-2.5 px-2 py-1 [@media(height<660px)]:min-h-7 [@media(height<660px)]:py-0.5 ${props.isCurrent ? 'bg-pressed font-medium text-ink' : ''}`}
    >
      <Dynamic component={props.icon} size={16} aria-hidden="true" class={`shrink-0 ${props.isCurrent ? 'text-accent-ink' : ''}`} />
      {props.text}
      {props.children}
    </A>
  )
}

/** The number of running and queued jobs. */
function RunningJobs() {
  const counts = useJobCounts()
  const { connection } = useApi()
  const isKnown = () => counts.data !== undefined && connection() === 'open'
  const running = () => (counts.data === undefined ? 0 : counts.data.running + counts.data.pending)
  return (
    <A href="/activity?status=pending,running" class={`${ITEM} min-h-8 gap-2.5 px-2 py-1`}>
      <span class="flex size-4 shrink-0 items-center justify-center" aria-hidden="true">
        <span class={`size-2 rounded-full ${isKnown() && running() > 0 ? 'animate-breathe bg-accent-ink' : 'border border-line-strong'}`} />
      </span>
      <span aria-live="polite">
        <Show when={isKnown()} fallback={connection() === 'lost' && t('shell.disconnected')}>
          {running() > 0 ? t('shell.running', { count: running() }) : t('shell.idle')}
        </Show>
      </span>
    </A>
  )
}

/** The bar at the bottom of a phone. */
export function PhoneNavigation(props: { onMore: () => void }) {
  const isCurrent = useIsCurrent()
  const onMoreScreen = () => SCREENS.some((screen) => !screen.onPhone && isCurrent(screen.path))
  const item = (current: boolean) =>
    `flex min-w-0 flex-1 flex-col items-center gap-0.5 py-1.5 text-2xs ${current ? 'font-medium text-accent-ink' : 'text-ink-2'}`
  return (
    <nav aria-label={t('shell.nav.label')} class="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden">
      <For each={SCREENS.filter((screen) => screen.onPhone)}>
        {(screen) => (
          <A href={screen.path} aria-current={isCurrent(screen.path) ? 'page' : undefined} class={item(isCurrent(screen.path))}>
            <span class="relative">
              <Dynamic component={screen.icon} size={19} aria-hidden="true" />
              <Show when={screen.name === 'approvals'}>
                <Waiting class="absolute -top-1.5 left-3" />
              </Show>
            </span>
            {t(`shell.nav.${screen.name}`)}
          </A>
        )}
      </For>
      <button type="button" class={item(onMoreScreen())} onClick={() => props.onMore()}>
        <Ellipsis size={19} aria-hidden="true" />
        {t('shell.nav.more')}
      </button>
    </nav>
  )
}
