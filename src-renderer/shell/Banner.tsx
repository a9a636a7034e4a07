import CircleAlert from 'lucide-solid/icons/circle-alert'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { createEffect, createMemo, createSignal, For, type JSX, on, onCleanup, Show } from 'solid-js'
import type { DesktopState } from '../../src-main/contract/desktop-api.ts'
import { useApi } from '../api/ApiProvider.tsx'
import { en } from '../kit/words/en.ts'
import { words } from '../kit/words/words.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/Toasts.tsx'

export type Notice = {
  key: string
  tone: 'calm' | 'warn' | 'bad'
  text: string
  detail?: string
  /** What can be done about it, the best first. */
  actions: { label: string; do: NoticeAction }[]
}
export type NoticeAction =
  | { type: 'usePort'; server: 'runner' | 'dashboard'; port: number }
  | { type: 'restart'; safeMode: boolean }
  | { type: 'logs' }
  | { type: 'recheckVault' }

/** What the machine needs somebody to know, the gravest first. In a browser nothing is known of the machine. */
export function noticesFor(state: DesktopState | null): Notice[] {
  if (state === null) return []
  const text = words().shell.banner
  const notices: Notice[] = []
  const logs = { label: text.logs, do: { type: 'logs' } as const }
  const { runner, dashboard, vault, info } = state
  if (runner.state === 'failed') {
    const restart = { label: text.restart, do: { type: 'restart', safeMode: false } as const }
    const safeMode = { label: text.safeMode, do: { type: 'restart', safeMode: true } as const }
    const why = (text.failedBy as Record<string, string>)[runner.code] ?? text.failed
    // The desktop's message begins with the same sentence where it stands alone, in a log or a terminal.
    const detail = runner.message.replace((en.shell.banner.failedBy as Record<string, string>)[runner.code] ?? '', '').trim()
    notices.push({ key: 'failed', tone: 'bad', text: why, detail, actions: [restart, safeMode, logs] })
  } else if (runner.state === 'port_taken') {
    const use = {
      label: text.usePort(runner.suggestedPort),
      do: { type: 'usePort', server: 'runner', port: runner.suggestedPort } as const,
    }
    notices.push({ key: 'port', tone: 'bad', text: text.runnerPort(runner.port), actions: [use] })
  } else if (runner.state === 'restarting') {
    notices.push({ key: 'restarting', tone: 'warn', text: text.restarting(runner.attempt), detail: runner.reason, actions: [] })
  } else if (runner.state === 'starting') {
    notices.push({ key: 'starting', tone: 'calm', text: text.starting, actions: [] })
  } else if (runner.state === 'stopped') {
    notices.push({
      key: 'stopped',
      tone: 'warn',
      text: text.stopped,
      actions: [{ label: text.start, do: { type: 'restart', safeMode: false } }],
    })
  }
  if (dashboard.state === 'port_taken') {
    const use = {
      label: text.usePort(dashboard.suggestedPort),
      do: { type: 'usePort', server: 'dashboard', port: dashboard.suggestedPort } as const,
    }
    notices.push({ key: 'dashboard-port', tone: 'warn', text: text.dashboardPort(dashboard.port), actions: [use] })
  } else if (dashboard.state === 'failed') {
    notices.push({ key: 'dashboard', tone: 'warn', text: text.dashboardFailed, detail: dashboard.message, actions: [logs] })
  }
  if (vault.state !== 'ok') {
    const recheck = { label: text.recheck, do: { type: 'recheckVault' } as const }
    // Of a file only its own sentence says which one.
    const detail = vault.kind === 'keychain' ? text.vaultWhy(vault.state, vault.message) : vault.message
    notices.push({ key: 'vault', tone: 'warn', text: text.vault, detail, actions: [recheck] })
  }
  if (info.safeMode && runner.state === 'ready') {
    const leave = { label: text.leaveSafeMode, do: { type: 'restart', safeMode: false } as const }
    notices.push({ key: 'safe-mode', tone: 'calm', text: text.inSafeMode, actions: [leave] })
  }
  return notices
}

const TONES = { calm: 'bg-inset text-ink-2', warn: 'bg-warn-soft text-warn', bad: 'bg-bad-soft text-bad' }
/** A connection that is back within this time was not worth a word, nor a jump of the page. */
const LOST_AFTER_MS = 1500

export function Banner() {
  const desktop = useDesktop()
  const { connection, nudge } = useApi()
  const [lostForLong, setLostForLong] = createSignal(false)
  createEffect(() => {
    if (connection() === 'open') return setLostForLong(false)
    const timer = setTimeout(() => setLostForLong(true), LOST_AFTER_MS)
    onCleanup(() => clearTimeout(timer))
  })
  const runnerState = createMemo(() => desktop.state()?.runner.state)
  createEffect(on(runnerState, (state) => state === 'ready' && nudge(), { defer: true }))

  const notices = createMemo(() => noticesFor(desktop.state()))
  const runnerIsFine = () => runnerState() === undefined || runnerState() === 'ready'
  const act = (action: NoticeAction) => {
    const { api } = desktop
    if (api === null) return
    const done =
      action.type === 'usePort'
        ? api.usePort({ server: action.server, port: action.port })
        : action.type === 'restart'
          ? api.restartRunner({ safeMode: action.safeMode })
          : action.type === 'logs'
            ? api.showFolder('logs')
            : api.recheckVault(undefined)
    Promise.resolve(done).catch((thrown: unknown) =>
      toast({ tone: 'bad', text: thrown instanceof Error ? thrown.message : String(thrown) }),
    )
  }
  return (
    <div role="status" aria-live="polite" class="shrink-0">
      <Show when={lostForLong() && runnerIsFine()}>
        <Line
          tone="warn"
          icon={<LoaderCircle size={15} class="animate-spin" aria-hidden="true" />}
          text={words().shell.banner.reconnecting}
        />
      </Show>
      <For each={notices()}>
        {(notice) => (
          <Line
            tone={notice.tone}
            icon={
              <Show when={['starting', 'restarting'].includes(notice.key)} fallback={<CircleAlert size={15} aria-hidden="true" />}>
                <LoaderCircle size={15} class="animate-spin" aria-hidden="true" />
              </Show>
            }
            text={notice.text}
            detail={notice.detail}
          >
            <For each={notice.actions}>
              {(action) => (
                <Button size="sm" onClick={() => act(action.do)}>
                  {action.label}
                </Button>
              )}
            </For>
          </Line>
        )}
      </For>
    </div>
  )
}

function Line(props: { tone: Notice['tone']; icon: JSX.Element; text: string; detail?: string; children?: JSX.Element }) {
  return (
    <div class={`flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2 ${TONES[props.tone]}`}>
      <span class="shrink-0">{props.icon}</span>
      <p class="min-w-48 flex-1 text-sm">
        <span class="font-medium">{props.text}</span>
        <Show when={props.detail}>
          <span class="text-ink-2"> {props.detail}</span>
        </Show>
      </p>
      {props.children}
    </div>
  )
}
