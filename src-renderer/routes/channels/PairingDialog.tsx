import CircleCheck from 'lucide-solid/icons/circle-check'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import Smartphone from 'lucide-solid/icons/smartphone'
import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Channel } from '../../../src-runner/contract/channels.ts'
import type { Pairing } from '../../../src-runner/contract/messenger.ts'
import { usePairing } from '../../api/pairing.ts'
import { issueOf } from '../../api/problem.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { useSeconds } from '../../lib/now.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { AgentSelect, firstAgentId } from './AgentSelect.tsx'

/** Links a phone by a code: to scan, or to type into the phone. With `existing`, the channel's account is linked again. */
export function PairingDialog(props: {
  agents: readonly Agent[]
  agentId?: string | undefined
  existing?: Channel | undefined
  onClose: () => void
}): JSX.Element {
  const [agentId, setAgentId] = createSignal(props.existing?.agentId ?? props.agentId ?? firstAgentId(props.agents))
  const { pairing, error, isStarting, start } = usePairing(agentId)
  const [byNumber, setByNumber] = createSignal(false)
  const [number, setNumber] = createSignal('')
  const agentName = () => props.agents.find((agent) => agent.id === agentId())?.name ?? ''
  const status = () => (byNumber() ? 'number' : (pairing()?.status ?? 'begin'))
  const askForCode = async () => {
    await start(number().trim())
    if (error() === null) setByNumber(false)
  }
  return (
    <Dialog
      open
      onClose={props.onClose}
      title={status() === 'open' ? t('channels.pairing.linked', { number: pairing()!.number ?? '' }) : t('channels.pairing.title')}
      actions={
        <Switch fallback={<Button onClick={() => props.onClose()}>{t('common.cancel')}</Button>}>
          <Match when={status() === 'open'}>
            <Button variant="primary" onClick={() => props.onClose()}>
              {t('channels.connected.done')}
            </Button>
          </Match>
          <Match when={status() === 'begin'}>
            <Button variant="primary" busy={isStarting()} onClick={() => void start()}>
              {t('channels.pairing.showCode')}
            </Button>
          </Match>
          <Match when={status() === 'number'}>
            <Button onClick={() => setByNumber(false)}>{t('channels.pairing.back')}</Button>
            <Button variant="primary" busy={isStarting()} disabled={number().trim() === ''} onClick={() => void askForCode()}>
              {t('channels.pairing.getCode')}
            </Button>
          </Match>
          <Match when={status() === 'closed' || status() === 'logged_out'}>
            <Button variant="primary" busy={isStarting()} onClick={() => void start()}>
              {t('channels.pairing.startAgain')}
            </Button>
          </Match>
        </Switch>
      }
    >
      <div class="flex min-h-64 flex-col gap-4" aria-live="polite">
        <Switch>
          <Match when={status() === 'begin'}>
            <p class="text-sm text-ink-2">{t('channels.pairing.about')}</p>
            <p class="rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">{t('channels.pairing.risk')}</p>
            <Show when={props.existing === undefined}>
              <AgentSelect agents={props.agents} agentId={agentId()} onAgent={setAgentId} />
            </Show>
          </Match>
          <Match when={status() === 'number'}>
            <p class="text-sm text-ink-2">{t('channels.pairing.numberAbout')}</p>
            <TextField
              label={t('channels.pairing.number')}
              type="tel"
              autocomplete="tel"
              value={number()}
              onValue={setNumber}
              hint={t('channels.pairing.numberHint')}
              problem={issueOf(error(), 'phoneNumber')}
            />
          </Match>
          <Match when={status() === 'qr_pending' && pairing()!.code !== null}>
            <p class="text-center font-mono text-3xl font-semibold tracking-widest text-ink select-all">{pairing()!.code}</p>
            <div class="text-center">
              <Countdown pairing={pairing()!} seconds={120} text={(seconds) => t('channels.pairing.codeEnds', { seconds })} />
            </div>
            <PhoneSteps last={t('channels.pairing.steps.type')} drawing="type" />
          </Match>
          <Match when={status() === 'qr_pending'}>
            <div class="flex gap-6 max-sm:flex-col max-sm:items-center">
              <div class="flex shrink-0 flex-col items-center gap-2">
                <QrCode text={pairing()!.qr!} label={t('channels.pairing.qrLabel')} class="size-56" />
                <Countdown pairing={pairing()!} seconds={20} text={(seconds) => t('channels.pairing.renews', { seconds })} />
              </div>
              <div class="flex flex-col gap-3">
                <PhoneSteps last={t('channels.pairing.steps.scan')} drawing="scan" />
                <button
                  type="button"
                  class="self-start text-left text-xs text-accent-ink hover:underline"
                  onClick={() => setByNumber(true)}
                >
                  {t('channels.pairing.cannotScan')}
                </button>
              </div>
            </div>
          </Match>
          <Match when={status() === 'connecting'}>
            <div role="status" class="flex flex-1 flex-col items-center justify-center gap-3 text-sm text-ink-2">
              <LoaderCircle size={28} class="animate-spin text-ink-3" aria-hidden="true" />
              {t(pairing()!.scanned ? 'channels.pairing.scanned' : 'channels.pairing.preparing')}
            </div>
          </Match>
          <Match when={status() === 'open'}>
            <div class="flex flex-1 flex-col items-center justify-center gap-3 text-center text-sm text-ink-2">
              <CircleCheck size={36} class="text-ok" aria-hidden="true" />
              <p class="max-w-sm">{t('channels.pairing.linkedNext', { agent: agentName() })}</p>
            </div>
          </Match>
          <Match when={true}>
            <div class="flex flex-1 flex-col items-center justify-center gap-3 text-center">
              <Smartphone size={28} class="text-ink-3" aria-hidden="true" />
              <p role="alert" class="max-w-sm text-sm text-ink">
                {messageText(pairing()?.problem ?? null)}
              </p>
            </div>
          </Match>
        </Switch>
        <FormProblem error={error()} />
      </div>
    </Dialog>
  )
}

/** The other device's clock may differ, so it never shows more than a code lasts. */
function Countdown(props: { pairing: Pairing; seconds: number; text: (seconds: number) => string }): JSX.Element {
  const now = useSeconds()
  const left = () => Math.min(props.seconds, Math.max(0, Math.ceil(((props.pairing.expiresAt ?? 0) - now()) / 1000)))
  // A screen reader would read each second.
  return (
    <span aria-live="off" class="text-xs text-ink-3 tabular-nums">
      {props.text(left())}
    </span>
  )
}

function PhoneSteps(props: { last: string; drawing: 'scan' | 'type' }): JSX.Element {
  const steps = () => [
    { drawing: 'menu' as const, text: t('channels.pairing.steps.open') },
    { drawing: 'devices' as const, text: t('channels.pairing.steps.devices') },
    { drawing: props.drawing, text: props.last },
  ]
  return (
    <ol class="flex flex-col gap-3">
      <For each={steps()}>
        {({ drawing, text }, i) => (
          <li class="flex items-center gap-3 text-sm text-ink-2">
            <PhoneDrawing shows={drawing} />
            <span>
              <span class="font-medium text-ink">{i() + 1}.</span> {text}
            </span>
          </li>
        )}
      </For>
    </ol>
  )
}

/** What the screen of the phone looks like at this step. */
function PhoneDrawing(props: { shows: 'menu' | 'devices' | 'scan' | 'type' }): JSX.Element {
  return (
    <svg class="h-12 w-7 shrink-0" viewBox="0 0 28 48" fill="none" aria-hidden="true">
      <rect x="1" y="1" width="26" height="46" rx="4" class="fill-surface stroke-ink-3" stroke-width="1.5" />
      <Switch>
        <Match when={props.shows === 'menu'}>
          <path d="M5 7h10M5 16h18M5 22h18M5 28h18M5 34h18" class="stroke-line-strong" stroke-width="2" stroke-linecap="round" />
          <For each={[5, 8, 11]}>{(y) => <circle cx="22" cy={y} r="1.4" class="fill-accent" />}</For>
        </Match>
        <Match when={props.shows === 'devices'}>
          <path d="M5 7h12M5 15h18M5 33h18M5 39h18" class="stroke-line-strong" stroke-width="2" stroke-linecap="round" />
          <rect x="4" y="20" width="20" height="8" rx="2" class="fill-accent" />
        </Match>
        <Match when={props.shows === 'scan'}>
          <path d="M7 18v-4h4M21 18v-4h-4M7 28v4h4M21 28v4h-4" class="stroke-accent" stroke-width="2" stroke-linecap="round" />
          <path d="M10 18h3v3h-3zM15 18h3v3h-3zM10 25h3v3h-3zM16 24h2v2h-2z" class="fill-ink-3" />
        </Match>
        <Match when={props.shows === 'type'}>
          <path d="M6 16h3M10.5 16h3M15 16h3M19.5 16h3" class="stroke-accent" stroke-width="2.5" />
          <For each={[28, 33, 38]}>
            {(y) => <For each={[8, 14, 20]}>{(x) => <circle cx={x} cy={y} r="1.5" class="fill-line-strong" />}</For>}
          </For>
        </Match>
      </Switch>
    </svg>
  )
}
