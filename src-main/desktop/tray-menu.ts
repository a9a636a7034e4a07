import type { RunningJob, WaitingApproval, WebhookReach } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import { moneyText } from '../../resources/locales/numbers.ts'
import { renderMessage } from '../../resources/locales/translate.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { oneLine } from './one-line.ts'
import type { Translate } from '../../resources/locales/translate.ts'
import type { Speech } from './language.ts'

export type TrayItem =
  | { kind: 'line' }
  | { kind: 'text'; label: string }
  | { kind: 'action'; label: string; action: TrayAction }
  | { kind: 'group'; label: string; items: TrayItem[] }

export type TrayAction =
  | { do: 'open'; path?: string }
  | { do: 'stop'; jobId: string }
  | { do: 'answer'; approvalId: string; decision: 'approve' | 'reject'; answer: string | null }
  | { do: 'pauseAll'; on: boolean }
  | { do: 'tunnel'; program: TunnelProgram; on: boolean }
  | { do: 'quit' }

const MAX_TITLE = 48
const MAX_REQUEST = 60
const SHOWN_JOBS = 12

/** The tray menu: waiting approvals with their answers, running jobs with Stop, and pause all. */
export function trayItems({
  jobs,
  pending,
  approvals,
  waiting,
  pauseAll,
  webhooks,
  runner,
  now,
  speech,
}: {
  jobs: readonly RunningJob[]
  pending: number
  approvals: number
  waiting: readonly WaitingApproval[]
  pauseAll: boolean
  webhooks: WebhookReach
  runner: RunnerState
  now: number
  speech: Speech
}): TrayItem[] {
  const more = jobs.length - SHOWN_JOBS
  return [
    { kind: 'action', label: speech.t('desktop.tray.open'), action: { do: 'open' } },
    ...(approvals > 0
      ? [
          {
            kind: 'action',
            label: speech.t('desktop.tray.waiting', { count: approvals }),
            action: { do: 'open', path: '/approvals' },
          } as const,
        ]
      : []),
    ...waiting.map((approval) => answerItems(approval, speech)),
    { kind: 'line' },
    ...(pauseAll ? [{ kind: 'text', label: speech.t('desktop.tray.isAllPaused') } as const] : []),
    { kind: 'text', label: summary(jobs.length, pending, runner, speech.t) },
    ...jobs.slice(0, SHOWN_JOBS).map((job): TrayItem => {
      const facts = [
        oneLine(job.title, MAX_TITLE),
        job.agentName,
        elapsed(now - job.startedAt, speech.t),
        moneyText(job.costUsd, speech.locale),
      ]
      return {
        kind: 'group',
        label: escaped(facts.join(' · ')),
        items: [
          { kind: 'action', label: speech.t('desktop.tray.show'), action: { do: 'open', path: `/jobs/${job.jobId}` } },
          { kind: 'action', label: speech.t('desktop.tray.stop'), action: { do: 'stop', jobId: job.jobId } },
        ],
      }
    }),
    ...(more > 0
      ? [{ kind: 'action', label: speech.t('desktop.tray.more', { count: more }), action: { do: 'open', path: '/activity' } } as const]
      : []),
    ...reachItems(webhooks, speech.t),
    { kind: 'line' },
    // Without a runner there is nothing to pause.
    ...(runner.state === 'ready'
      ? [
          {
            kind: 'action',
            label: pauseAll ? speech.t('desktop.tray.resumeAll') : speech.t('desktop.tray.pauseAll'),
            action: { do: 'pauseAll', on: !pauseAll },
          } as const,
        ]
      : []),
    { kind: 'action', label: speech.t('desktop.tray.quit'), action: { do: 'quit' } },
  ]
}

/** Approve is offered only for a call that is shown completely here. Otherwise the menu opens the page. Reject is always safe. */
function answerItems({ approvalId, kind, agentName, title, isWhole, choices }: WaitingApproval, speech: Speech): TrayItem {
  const item = (label: string, decision: 'approve' | 'reject', answer: string | null = null): TrayItem => ({
    kind: 'action',
    label: escaped(label),
    action: { do: 'answer', approvalId, decision, answer },
  })
  const request = renderMessage(speech.t, title)
  const shown = oneLine(request, MAX_REQUEST)
  const isComplete = isWhole && shown === request
  const answers: Record<WaitingApproval['kind'], TrayItem[]> = {
    tool: [...(isComplete ? [item(speech.t('desktop.tray.approve'), 'approve')] : []), item(speech.t('desktop.tray.reject'), 'reject')],
    question: isComplete ? choices.map((choice) => item(speech.t('desktop.tray.answer', { choice }), 'approve', choice)) : [],
    budget: [...(isComplete ? [item(speech.t('desktop.tray.extend'), 'approve')] : []), item(speech.t('desktop.tray.stop'), 'reject')],
    unknown_outcome: [],
  }
  return {
    kind: 'group',
    label: escaped(`${agentName}: ${shown}`),
    items: [
      ...answers[kind],
      { kind: 'action', label: speech.t('desktop.tray.look'), action: { do: 'open', path: `/approvals?id=${approvalId}` } },
    ],
  }
}

/** The state of the public address; nothing if there is none. */
function reachItems(webhooks: WebhookReach, t: Translate): TrayItem[] {
  const { tunnel } = webhooks
  const label = reachLabel(webhooks, t)
  if (label === null && tunnel === null) return []
  const items: TrayItem[] = [{ kind: 'line' }]
  if (label !== null) items.push({ kind: 'action', label: escaped(label), action: { do: 'open', path: '/settings/webhooks' } })
  if (tunnel !== null) {
    const { program, state } = tunnel
    const on = state === 'stopped' || state === 'failed'
    const action = { do: 'tunnel', program, on } as const
    items.push({
      kind: 'action',
      label: on ? t('desktop.tray.startTunnel', { program }) : t('desktop.tray.stopTunnel', { program }),
      action,
    })
  }
  return items
}

function reachLabel({ url, check, tunnel }: WebhookReach, t: Translate): string | null {
  const isDown = tunnel?.state === 'failed'
  if (check === 'exposed') return t('desktop.tray.exposed')
  if (check === 'unreachable') return isDown ? t('desktop.tray.tunnelIsDownWhy') : t('desktop.tray.webhooksDoNot')
  if (tunnel?.state === 'starting') return t('desktop.tray.tunnelStarts')
  if (url === null) return isDown ? t('desktop.tray.tunnelIsDown') : null
  return check === 'reachable'
    ? t('desktop.tray.webhooksDo', { address: oneLine(url.replace(/^https?:\/\//, ''), MAX_TITLE) })
    : t('desktop.tray.webhooksMay')
}

export function summary(running: number, pending: number, runner: RunnerState, t: Translate): string {
  if (runner.state === 'starting' || runner.state === 'restarting') return t('desktop.tray.runnerStarts')
  if (runner.state !== 'ready') return t('desktop.tray.runnerIsOff')
  return pending > 0
    ? `${t('desktop.tray.running', { count: running })}, ${t('desktop.tray.pending', { count: pending })}`
    : t('desktop.tray.running', { count: running })
}

function elapsed(ms: number, t: Translate): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return t('desktop.tray.underAMinute')
  return minutes < 60
    ? t('desktop.tray.minutes', { minutes })
    : t('desktop.tray.hours', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}

/** In a menu a single & marks a shortcut. */
function escaped(label: string): string {
  return label.replaceAll('&', '&&')
}
