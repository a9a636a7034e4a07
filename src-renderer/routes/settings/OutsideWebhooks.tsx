import { createEffect, createSignal, For, type JSX, on, Show } from 'solid-js'
import { FIRST_INGRESS_PORT, type PublicAddress, type TunnelProgram } from '../../../src-runner/contract/public-address.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { usePublicAddress } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Time } from '../../ui/Time.tsx'

const TONES = { unknown: 'plain', checking: 'accent', reachable: 'ok', unreachable: 'bad', exposed: 'bad' } as const

/** The public address of the webhooks, its check, and the tunnel. */
export function OutsideWebhooks(): JSX.Element {
  const answer = usePublicAddress()
  return (
    <Panel title={t('settings.outside.title')} description={t('settings.outside.about')} flush>
      <Show
        when={answer.data?.publicAddress}
        fallback={
          <Show when={answer.error}>
            <div class="p-4">
              <ErrorState compact problem={problemOf(answer.error)} onRetry={answer.retry} />
            </div>
          </Show>
        }
      >
        {(address) => (
          <>
            <Address address={address()} />
            <Listener address={address()} />
            <TunnelRow address={address()} />
          </>
        )}
      </Show>
    </Panel>
  )
}

function Address(props: { address: PublicAddress }): JSX.Element {
  const desktop = useDesktop()
  const change = useAction('updatePublicAddress')
  const check = useAction('checkPublicAddress')
  const may = useMay()
  const [typed, setTyped] = createSignal('')
  const isOwn = () => props.address.source === 'none' || props.address.source === 'setting'
  const problem = () => (change.error ? (sentenceOf(change.error) ?? t('settings.outside.bad')) : null)
  createEffect(
    on(
      () => props.address.url,
      (url) => setTyped(url ?? ''),
    ),
  )
  const save = () => {
    const url = typed().trim()
    if (url === (props.address.url ?? '')) return
    change.run({ body: { url: url === '' ? null : url } }).catch(() => undefined)
  }
  return (
    <div id="address" class="flex flex-col gap-2 border-b border-line px-4 py-2.5 outline-none focus:bg-accent-soft">
      <Show
        when={isOwn()}
        fallback={
          <div>
            <div class="text-sm text-ink">{t('settings.outside.address')}</div>
            <div class="text-xs text-ink-3">
              {props.address.source === 'environment' ? t('settings.outside.fromEnvironment') : t('settings.outside.fromTunnel')}
            </div>
            <div class="mt-1 flex items-center gap-1">
              <code class="font-mono text-xs wrap-anywhere">{props.address.url}</code>
              <CopyButton size="sm" text={props.address.url ?? ''} copy={desktop.copyText} />
            </div>
          </div>
        }
      >
        <form
          novalidate
          class="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <div class="min-w-60 flex-1">
            <TextField
              label={t('settings.outside.address')}
              type="url"
              mono
              placeholder="https://"
              hint={
                props.address.url === null
                  ? `${t('settings.outside.addressHint')}. ${t('settings.outside.addressNone')}`
                  : t('settings.outside.addressHint')
              }
              problem={problem()}
              disabled={!may('updatePublicAddress')}
              value={typed()}
              onValue={setTyped}
            />
          </div>
          <Show when={typed().trim() !== (props.address.url ?? '')}>
            <Button type="submit" variant="primary" busy={change.isRunning}>
              {t('settings.outside.save')}
            </Button>
          </Show>
        </form>
      </Show>
      <Show when={props.address.url !== null}>
        <div class="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <Pill tone={TONES[check.isRunning ? 'checking' : props.address.check.state]}>
            {t(`settings.outside.states.${check.isRunning ? 'checking' : props.address.check.state}`)}
          </Pill>
          <Show when={props.address.check.checkedAt}>
            {(at) => (
              <span class="text-xs text-ink-3">
                {t('settings.outside.checked')} <Time at={at()} />
              </span>
            )}
          </Show>
          <Button size="sm" busy={check.isRunning} onClick={() => void check.run({}).catch(toastError)}>
            {t('settings.outside.check')}
          </Button>
        </div>
        <Show when={props.address.check.problem}>
          {(problem) => (
            <p role={props.address.check.state === 'exposed' ? 'alert' : undefined} class="text-sm wrap-anywhere text-bad">
              {messageText(problem())}
            </p>
          )}
        </Show>
      </Show>
    </div>
  )
}

/** The port that answers webhooks only, to which the person's own tunnel must lead. */
function Listener(props: { address: PublicAddress }): JSX.Element {
  const desktop = useDesktop()
  const change = useAction('updatePublicAddress')
  const may = useMay()
  const [typed, setTyped] = createSignal('')
  const [problem, setProblem] = createSignal<string | null>(null)
  createEffect(
    on(
      () => props.address.ingressPort,
      (port) => setTyped(String(port ?? '')),
    ),
  )
  const put = (ingressPort: number | null) => {
    setProblem(null)
    change.run({ body: { ingressPort } }).catch((thrown: unknown) => setProblem(sentenceOf(thrown)))
  }
  const leave = () => {
    const port = Number(typed())
    if (!/^\d{4,5}$/.test(typed().trim()) || port < 1024 || port > 65_535) return setProblem(t('settings.outside.portBad'))
    if (port !== props.address.ingressPort) put(port)
  }
  return (
    <>
      <div
        id="listener"
        class="flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line px-4 py-2.5 outline-none focus:bg-accent-soft"
      >
        <div class="min-w-60 flex-1">
          <Switch
            label={t('settings.outside.listener')}
            hint={t('settings.outside.listenerHint')}
            checked={props.address.ingressPort !== null}
            disabled={!may('updatePublicAddress') || change.isRunning || (props.address.url !== null && props.address.ingressPort !== null)}
            onChecked={(isOn) => put(isOn ? FIRST_INGRESS_PORT : null)}
          />
          <Show when={props.address.ingressProblem}>
            {(message) => (
              <p role="alert" class="text-xs wrap-anywhere text-bad">
                {messageText(message())}
              </p>
            )}
          </Show>
          <Show when={props.address.ingressPort === null && problem()}>
            {(message) => (
              <p role="alert" class="text-xs text-bad">
                {message()}
              </p>
            )}
          </Show>
        </div>
        <Show when={props.address.ingressPort !== null}>
          <div class="w-24">
            <TextField
              label={t('settings.outside.port')}
              hideLabel
              inputMode="numeric"
              disabled={!may('updatePublicAddress')}
              value={typed()}
              onValue={setTyped}
              problem={problem()}
              onBlur={leave}
              onKeyDown={(event) => event.key === 'Enter' && leave()}
            />
          </div>
        </Show>
      </div>
      <Show
        when={props.address.ingressPort !== null}
        fallback={<Row id="leads-to" label={t('settings.outside.leadsTo')} hint={t('settings.outside.leadsToFirst')} />}
      >
        <Row id="leads-to" label={t('settings.outside.leadsTo')} hint={t('settings.outside.leadsToHint')}>
          <code class="font-mono text-xs">{props.address.localUrl}</code>
          <CopyButton size="sm" text={props.address.localUrl} copy={desktop.copyText} />
        </Row>
      </Show>
    </>
  )
}

function TunnelRow(props: { address: PublicAddress }): JSX.Element {
  const start = useAction('startTunnel')
  const stop = useAction('stopTunnel')
  const may = useMay()
  const installed = () => props.address.programs.filter((one) => one.installed)
  const tunnel = () => props.address.tunnel
  const isUp = () => tunnel()?.state === 'running' || tunnel()?.state === 'starting'
  const isQuick = () => (isUp() ? tunnel()?.program === 'cloudflared' : installed().some(({ program }) => program === 'cloudflared'))
  const hint = () => {
    if (installed().length === 0 && !isUp()) return t('settings.outside.tunnelNone')
    return isQuick() ? `${t('settings.outside.tunnelHint')} ${t('settings.outside.quickTunnel')}` : t('settings.outside.tunnelHint')
  }
  const begin = (program: TunnelProgram) => void start.run({ body: { program } }).catch(toastError)
  return (
    <>
      <Row id="tunnel" label={t('settings.outside.tunnel')} hint={hint()}>
        <div class="flex flex-wrap items-center justify-end gap-2">
          <Show when={tunnel()}>
            {(one) => (
              <Pill tone={one().state === 'running' ? 'ok' : one().state === 'failed' ? 'bad' : 'plain'}>
                {one().program}: {t(`settings.outside.tunnelStates.${one().state}`)}
              </Pill>
            )}
          </Show>
          <Show
            when={isUp()}
            fallback={
              <For each={installed()}>
                {({ program }) => (
                  <Button
                    size="sm"
                    busy={start.isRunning}
                    disabled={props.address.source === 'environment' || !may('startTunnel')}
                    onClick={() => begin(program)}
                  >
                    {t('settings.outside.start', { program })}
                  </Button>
                )}
              </For>
            }
          >
            <Button size="sm" busy={stop.isRunning} disabled={!may('stopTunnel')} onClick={() => void stop.run({}).catch(toastError)}>
              {t('settings.outside.stop')}
            </Button>
          </Show>
        </div>
      </Row>
      <Show when={tunnel()?.problem}>{(problem) => <p class="px-4 pb-3 text-sm wrap-anywhere text-bad">{messageText(problem())}</p>}</Show>
    </>
  )
}
