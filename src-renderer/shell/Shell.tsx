import { type RouteSectionProps, useLocation, useNavigate } from '@solidjs/router'
import { createEffect, createMemo, createSignal, ErrorBoundary, on, onCleanup, onMount, Show, Suspense } from 'solid-js'
import { useMay } from '../api/may.ts'
import { useAgents, usePendingApprovals, useSettings } from '../api/queries.ts'
import { useKeys } from '../lib/keyboard.ts'
import { usePresence } from '../lib/presence.ts'
import { t } from '../lib/language.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { NEW_CHAT, setLinkedTask } from '../routes/chat/new-chat.ts'
import { Button } from '../ui/Button.tsx'
import { CommandPalette } from '../ui/CommandPalette.tsx'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Screen } from '../ui/Screen.tsx'
import { Toasts } from '../ui/Toasts.tsx'
import { Banner } from './Banner.tsx'
import { dataTroubleOf } from './data-trouble.ts'
import { DataTroubleScreen } from './DataTroubleScreen.tsx'
import { PauseAllBanner, usePauseAll } from './PauseAll.tsx'
import { commandsFor } from './commands.ts'
import { useGoKeys } from './go-keys.ts'
import { MoreSheet } from './MoreSheet.tsx'
import { PhoneNavigation, SideNavigation } from './Navigation.tsx'
import { focusSearch, useSearchKeys } from './search-keys.ts'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'

/** The frame around every screen. The first start has no navigation. */
export function Shell(props: RouteSectionProps) {
  const navigate = useNavigate()
  const location = useLocation()
  const desktop = useDesktop()
  const agents = useAgents()
  const may = useMay()
  const [open, setOpen] = createSignal<'palette' | 'shortcuts' | 'more' | null>(null)
  const pauseAll = usePauseAll()
  const dataTrouble = createMemo(() => dataTroubleOf(desktop.state()))
  const isAlone = () => location.pathname === '/welcome'
  const close = () => setOpen(null)

  useFirstStart()
  usePresence()
  useCountInTitle()
  useGoKeys(navigate)
  useSearchKeys()
  useKeys({
    'Mod+k': () => setOpen('palette'),
    '?': () => setOpen('shortcuts'),
    c: () => navigate(NEW_CHAT),
    '/': focusSearch,
  })
  onMount(() => {
    onCleanup(
      desktop.onCommand((request) => {
        if (request.command === 'go') navigate(request.path)
        else if (request.command === 'task') {
          setLinkedTask(request.text)
          navigate(NEW_CHAT)
        } else setOpen(request.command)
      }),
    )
  })

  return (
    <div class="flex h-full flex-col">
      <a
        href="#main"
        class="sr-only rounded-md bg-surface px-3 py-1.5 shadow-pop focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        {t('shell.skipToContent')}
      </a>
      <Banner />
      <PauseAllBanner />
      <div class="flex min-h-0 flex-1 max-md:flex-col-reverse">
        <Show when={!isAlone() && dataTrouble() === null}>
          <SideNavigation onPalette={() => setOpen('palette')} />
          <PhoneNavigation onMore={() => setOpen('more')} />
        </Show>
        <main id="main" tabIndex={-1} class="relative min-h-0 min-w-0 flex-1 overflow-clip outline-none">
          <ErrorBoundary fallback={(thrown, reset) => <Crashed thrown={thrown} reset={reset} />}>
            <Show when={dataTrouble()} fallback={<Suspense>{props.children}</Suspense>}>
              {(trouble) => <DataTroubleScreen trouble={trouble()} />}
            </Show>
          </ErrorBoundary>
        </main>
      </div>
      <CommandPalette
        open={open() === 'palette'}
        onClose={close}
        commands={commandsFor(agents.data?.agents ?? [], {
          may,
          go: navigate,
          changeTheme: desktop.changeTheme,
          showShortcuts: () => setOpen('shortcuts'),
          pauseAll,
        })}
      />
      <ShortcutsDialog open={open() === 'shortcuts'} onClose={close} />
      <MoreSheet open={open() === 'more'} onClose={close} onPalette={() => setOpen('palette')} />
      <Toasts />
    </div>
  )
}

/** Shows "(2) Deckhand" as the title, which is visible also when the window is behind others. */
function useCountInTitle(): void {
  const approvals = usePendingApprovals()
  createEffect(() => {
    const count = approvals.data?.pending ?? 0
    document.title = count > 0 ? `(${count}) Deckhand` : 'Deckhand'
  })
}

/** A fresh installation opens the first start, unless the person has left it. */
function useFirstStart(): void {
  const settings = useSettings()
  const navigate = useNavigate()
  const location = useLocation()
  let isDecided = false
  createEffect(
    on(
      () => settings.data?.settings.firstStart,
      (step) => {
        if (step === undefined || isDecided) return
        isDecided = true
        if (step !== 'done' && location.pathname === '/') navigate('/welcome', { replace: true })
      },
    ),
  )
}

function Crashed(props: { thrown: unknown; reset: () => void }) {
  const location = useLocation()
  // Leaving the broken screen removes its error.
  createEffect(
    on(
      () => location.pathname,
      () => props.reset(),
      { defer: true },
    ),
  )
  return (
    <Screen width="narrow">
      <ErrorState
        problem={{
          title: t('shell.crashed'),
          why: t('shell.crashedWhy'),
          code: props.thrown instanceof Error ? props.thrown.message : String(props.thrown),
        }}
        actions={
          <Button size="sm" onClick={() => props.reset()}>
            {t('common.retry')}
          </Button>
        }
      />
    </Screen>
  )
}
