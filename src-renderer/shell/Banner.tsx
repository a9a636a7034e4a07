import { useNavigate } from '@solidjs/router'
import CircleAlert from 'lucide-solid/icons/circle-alert'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { createEffect, createMemo, createSignal, For, type JSX, on, onCleanup, Show } from 'solid-js'
import type { DesktopState } from '../../src-main/contract/desktop-api.ts'
import type { UpdateAction } from '../../src-main/contract/updates.ts'
import { useApi } from '../api/ApiProvider.tsx'
import { t, type TextsUnder } from '../lib/language.ts'
import { messageText } from '../lib/message-text.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/Toasts.tsx'
import { dataTroubleOf } from './data-trouble.ts'
import { failureText } from '../lib/failure-text.ts'

export type Notification = {
  key: string
  tone: 'calm' | 'warn' | 'bad'
  text: string
  detail?: string
  /** The best comes first. */
  actions: { label: string; do: NotificationAction }[]
}
const FAILURES: readonly TextsUnder<'shell.banner.failedBy'>[] = [...(['crash_loop', 'config_invalid'] as const), 'vault_unavailable']

export type NotificationAction =
  | { type: 'usePort'; server: 'runner' | 'dashboard'; port: number }
  | { type: 'restart'; safeMode: boolean }
  | { type: 'logs' }
  | { type: 'recheckVault' }
  | { type: 'update'; action: UpdateAction }
  | { type: 'showUpdate' }
  | { type: 'hide'; key: string }

/** Problems of the app on this machine, the gravest first. None in a browser, which does not know the machine. */
export function notificationsFor(state: DesktopState | null): Notification[] {
  if (state === null) return []
  const notifications: Notification[] = []
  const logs = { label: t('shell.banner.logs'), do: { type: 'logs' } as const }
  const { runner, dashboard, vault, info } = state
  // What keeps the data from being used fills the screen instead.
  if (runner.state === 'failed' && dataTroubleOf(state) === null) {
    const restart = { label: t('shell.banner.restart'), do: { type: 'restart', safeMode: false } as const }
    const safeMode = { label: t('shell.banner.safeMode'), do: { type: 'restart', safeMode: true } as const }
    const reason = FAILURES.find((code) => code === runner.code)
    const why = reason === undefined ? t('shell.banner.failed') : t(`shell.banner.failedBy.${reason}`)
    notifications.push({ key: 'failed', tone: 'bad', text: why, detail: messageText(runner.message), actions: [restart, safeMode, logs] })
  } else if (runner.state === 'port_taken') {
    const use = {
      label: t('shell.banner.usePort', { port: String(runner.suggestedPort) }),
      do: { type: 'usePort', server: 'runner', port: runner.suggestedPort } as const,
    }
    notifications.push({ key: 'port', tone: 'bad', text: t('shell.banner.runnerPort', { port: String(runner.port) }), actions: [use] })
  } else if (runner.state === 'restarting') {
    notifications.push({
      key: 'restarting',
      tone: 'warn',
      text: t('shell.banner.restarting', { attempt: runner.attempt }),
      detail: messageText(runner.reason),
      actions: [],
    })
  } else if (runner.state === 'starting') {
    notifications.push({ key: 'starting', tone: 'calm', text: t('shell.banner.starting'), actions: [] })
  } else if (runner.state === 'stopped') {
    notifications.push({
      key: 'stopped',
      tone: 'warn',
      text: t('shell.banner.stopped'),
      actions: [{ label: t('shell.banner.start'), do: { type: 'restart', safeMode: false } }],
    })
  }
  if (dashboard.state === 'port_taken') {
    const use = {
      label: t('shell.banner.usePort', { port: String(dashboard.suggestedPort) }),
      do: { type: 'usePort', server: 'dashboard', port: dashboard.suggestedPort } as const,
    }
    notifications.push({
      key: 'dashboard-port',
      tone: 'warn',
      text: t('shell.banner.dashboardPort', { port: String(dashboard.port) }),
      actions: [use],
    })
  } else if (dashboard.state === 'failed') {
    notifications.push({
      key: 'dashboard',
      tone: 'warn',
      text: t('shell.banner.dashboardFailed'),
      detail: messageText(dashboard.message),
      actions: [logs],
    })
  }
  if (vault.state !== 'ok') {
    const recheck = { label: t('shell.banner.recheck'), do: { type: 'recheckVault' } as const }
    const detail = messageText(vault.message)
    notifications.push({ key: 'vault', tone: 'warn', text: t('shell.banner.vault'), detail, actions: [recheck] })
  }
  if (info.safeMode && runner.state === 'ready') {
    const leave = { label: t('shell.banner.leaveSafeMode'), do: { type: 'restart', safeMode: false } as const }
    notifications.push({ key: 'safe-mode', tone: 'calm', text: t('shell.banner.inSafeMode'), actions: [leave] })
  }
  const update = updateNotification(state)
  if (update !== null) notifications.push(update)
  return notifications
}

/** A version that waits for the person. One that is on its way by itself is not worth a banner. */
function updateNotification({ updates, settings }: DesktopState): Notification | null {
  if (!('offer' in updates) || updates.offer === null) return null
  const { version, kind } = updates.offer
  const key = `update-${updates.state}-${version}`
  const later = { label: t('shell.banner.updateLater'), do: { type: 'hide', key } as const }
  if (updates.state === 'downloaded') {
    const install = { label: t('settings.updates.install'), do: { type: 'update', action: 'install' } as const }
    return { key, tone: 'calm', text: t('shell.banner.updateReady', { version }), actions: [install, later] }
  }
  if (updates.state === 'waiting') {
    const stop = { label: t('settings.updates.notNow'), do: { type: 'update', action: 'later' } as const }
    return { key, tone: 'calm', text: t('shell.banner.updateWaits', { version }), actions: [stop] }
  }
  if (updates.state !== 'available' || (kind === 'app' && settings.updateMode === 'automatic')) return null
  const details = { label: t('shell.banner.updateDetails'), do: { type: 'showUpdate' } as const }
  return { key, tone: 'calm', text: t('shell.banner.updateAvailable', { version }), actions: [details, later] }
}

const TONES = { calm: 'bg-inset text-ink-2', warn: 'bg-warn-soft text-warn', bad: 'bg-bad-soft text-bad' }
/** A shorter loss of the connection is not shown, because the banner would make the page jump. */
const LOST_AFTER_MS = 1500

export function Banner() {
  const desktop = useDesktop()
  const navigate = useNavigate()
  const { connection, nudge } = useApi()
  const [lostForLong, setLostForLong] = createSignal(false)
  createEffect(() => {
    if (connection() === 'open') return setLostForLong(false)
    const timer = setTimeout(() => setLostForLong(true), LOST_AFTER_MS)
    onCleanup(() => clearTimeout(timer))
  })
  const runnerState = createMemo(() => desktop.state()?.runner.state)
  createEffect(on(runnerState, (state) => state === 'ready' && nudge(), { defer: true }))

  const [hidden, setHidden] = createSignal<readonly string[]>([])
  const notifications = createMemo(() => notificationsFor(desktop.state()).filter(({ key }) => !hidden().includes(key)))
  const runnerIsFine = () => runnerState() === undefined || runnerState() === 'ready'
  const act = (action: NotificationAction) => {
    const { api } = desktop
    if (api === null) return
    if (action.type === 'hide') return void setHidden([...hidden(), action.key])
    if (action.type === 'showUpdate') return navigate('/settings/about#updates')
    const done =
      action.type === 'usePort'
        ? api.usePort({ server: action.server, port: action.port })
        : action.type === 'restart'
          ? api.restartRunner({ safeMode: action.safeMode })
          : action.type === 'logs'
            ? api.showFolder('logs')
            : action.type === 'update'
              ? api.update(action.action)
              : api.recheckVault(undefined)
    Promise.resolve(done).catch((thrown: unknown) => toast({ tone: 'bad', text: failureText(thrown) }))
  }
  return (
    <div role="status" aria-live="polite" class="shrink-0">
      <Show when={lostForLong() && runnerIsFine()}>
        <Line tone="warn" icon={<LoaderCircle size={15} class="animate-spin" aria-hidden="true" />} text={t('shell.banner.reconnecting')} />
      </Show>
      <For each={notifications()}>
        {(notification) => (
          <Line
            tone={notification.tone}
            icon={
              <Show when={['starting', 'restarting'].includes(notification.key)} fallback={<CircleAlert size={15} aria-hidden="true" />}>
                <LoaderCircle size={15} class="animate-spin" aria-hidden="true" />
              </Show>
            }
            text={notification.text}
            detail={notification.detail}
          >
            <For each={notification.actions}>
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

function Line(props: { tone: Notification['tone']; icon: JSX.Element; text: string; detail?: string; children?: JSX.Element }) {
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
