import type { RunningJob, WaitingApproval, WebhookReach } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import { moneyText } from '../../resources/locales/numbers.ts'
import { renderMessage, type Translate } from '../../resources/locales/translate.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { oneLine } from './one-line.ts'
import type { Speech } from './language.ts'

export type TrayItem =
  | { kind: 'line' }
  | { kind: 'text'; label: string }
  | { kind: 'action'; label: string; action: TrayAction }
  | { kind: 'group'; label: string; items: TrayItem[] }

export type TrayAction =
  | { do: 'open'; path?: string }
  | { do: 'openInBrowser' }
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
  const { t } = speech
  const more = jobs.length - SHOWN_JOBS
  return [
    action(t('desktop.tray.open'), { do: 'open' }),
    ...(approvals > 0 ? [action(t('desktop.tray.waiting', { count: approvals }), { do: 'open', path: '/approvals' })] : []),
    ...waiting.map((approval) => answerItems(approval, t)),
    { kind: 'line' },
    ...(pauseAll ? [{ kind: 'text', label: t('desktop.tray.isAllPaused') } as const] : []),
    { kind: 'text', label: summary(jobs.length, pending, runner, t) },
    ...jobs.slice(0, SHOWN_JOBS).map((job): TrayItem => {
      const { jobId, title, agentName, startedAt } = job
      const facts = [oneLine(title, MAX_TITLE), agentName, elapsed(now - startedAt, t), costOf(job, speech)]
      return {
        kind: 'group',
        label: menuLabel(facts.join(' · ')),
        items: [
          action(t('desktop.tray.show'), { do: 'open', path: `/jobs/${jobId}` }),
          action(t('desktop.tray.stop'), { do: 'stop', jobId }),
        ],
      }
    }),
    ...(more > 0 ? [action(t('desktop.tray.more', { count: more }), { do: 'open', path: '/activity' })] : []),
    ...reachItems(webhooks, t),
    { kind: 'line' },
    // Without a runner there is nothing to pause.
    ...(runner.state === 'ready'
      ? [action(pauseAll ? t('desktop.tray.resumeAll') : t('desktop.tray.pauseAll'), { do: 'pauseAll', on: !pauseAll })]
      : []),
    action(t('desktop.tray.openInBrowser'), { do: 'openInBrowser' }),
    action(t('desktop.tray.quit'), { do: 'quit' }),
  ]
}

function action(label: string, does: TrayAction): TrayItem {
  return { kind: 'action', label, action: does }
}

/** Approve is offered only for a call that is shown completely here. Otherwise the menu opens the page. Reject is always safe. */
function answerItems({ approvalId, kind, agentName, title, isWhole, choices }: WaitingApproval, t: Translate): TrayItem {
  const item = (label: string, decision: 'approve' | 'reject', answer: string | null = null) =>
    action(menuLabel(label), { do: 'answer', approvalId, decision, answer })
  const request = renderMessage(t, title)
  const shown = oneLine(request, MAX_REQUEST)
  const isComplete = isWhole && shown === request
  const answers: Record<WaitingApproval['kind'], TrayItem[]> = {
    tool: [...(isComplete ? [item(t('desktop.tray.approve'), 'approve')] : []), item(t('desktop.tray.reject'), 'reject')],
    question: isComplete ? choices.map((choice) => item(t('desktop.tray.answer', { choice }), 'approve', choice)) : [],
    budget: [...(isComplete ? [item(t('desktop.tray.extend'), 'approve')] : []), item(t('desktop.tray.stop'), 'reject')],
    unknown_outcome: [],
  }
  return {
    kind: 'group',
    label: menuLabel(`${agentName}: ${shown}`),
    items: [...answers[kind], action(t('desktop.tray.look'), { do: 'open', path: `/approvals?id=${approvalId}` })],
  }
}

/** The state of the public address; nothing if there is none. */
function reachItems(webhooks: WebhookReach, t: Translate): TrayItem[] {
  const { tunnel } = webhooks
  const label = reachLabel(webhooks, t)
  if (label === null && tunnel === null) return []
  const items: TrayItem[] = [{ kind: 'line' }]
  if (label !== null) items.push(action(menuLabel(label), { do: 'open', path: '/settings/webhooks' }))
  if (tunnel !== null) {
    const { program, state } = tunnel
    const on = state === 'stopped' || state === 'failed'
    const text = on ? t('desktop.tray.startTunnel', { program }) : t('desktop.tray.stopTunnel', { program })
    items.push(action(text, { do: 'tunnel', program, on }))
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

/** What has no price is not shown as free. */
function costOf({ costUsd, priced }: RunningJob, { t, locale }: Speech): string {
  if (priced) return moneyText(costUsd, locale)
  return costUsd > 0 ? `${moneyText(costUsd, locale)} + ${t('common.unpriced')}` : t('common.unpriced')
}

function elapsed(ms: number, t: Translate): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return t('desktop.tray.underAMinute')
  return minutes < 60
    ? t('desktop.tray.minutes', { minutes })
    : t('desktop.tray.hours', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}

/** In a menu a single & marks a shortcut. */
export function menuLabel(label: string): string {
  return label.replaceAll('&', '&&')
}
