import type { RunningJob, WaitingApproval, WebhookReach } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import { moneyText } from '../../src-renderer/kit/numbers.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { askedText } from './asked-text.ts'
import { oneLine } from './one-line.ts'
import type { Speech } from './speech.ts'

export type TrayItem =
  | { kind: 'line' }
  | { kind: 'text'; label: string }
  | { kind: 'action'; label: string; action: TrayAction }
  | { kind: 'group'; label: string; items: TrayItem[] }

export type TrayAction =
  | { do: 'open'; path?: string }
  | { do: 'stop'; jobId: string }
  | { do: 'answer'; approvalId: string; decision: 'approve' | 'reject'; answer: string | null }
  | { do: 'brake'; on: boolean }
  | { do: 'tunnel'; program: TunnelProgram; on: boolean }
  | { do: 'quit' }

const MAX_TITLE = 48
const MAX_ASKED = 60
const SHOWN_JOBS = 12

type TrayWords = Speech['words']['desktop']['tray']

/** What the tray offers: what waits for the person, with its answers, the running jobs with who, how long and how much, each with Stop, and the brake. */
export function trayItems({
  jobs,
  pending,
  approvals,
  waiting,
  brake,
  webhooks,
  runner,
  now,
  speech,
}: {
  jobs: readonly RunningJob[]
  pending: number
  approvals: number
  waiting: readonly WaitingApproval[]
  brake: boolean
  webhooks: WebhookReach
  runner: RunnerState
  now: number
  speech: Speech
}): TrayItem[] {
  const text = speech.words.desktop.tray
  const more = jobs.length - SHOWN_JOBS
  return [
    { kind: 'action', label: text.open, action: { do: 'open' } },
    ...(approvals > 0 ? [{ kind: 'action', label: text.waiting(approvals), action: { do: 'open', path: '/approvals' } } as const] : []),
    ...waiting.map((approval) => answerItems(approval, speech)),
    { kind: 'line' },
    ...(brake ? [{ kind: 'text', label: text.brakeIsOn } as const] : []),
    { kind: 'text', label: summary(jobs.length, pending, runner, text) },
    ...jobs.slice(0, SHOWN_JOBS).map((job): TrayItem => {
      const facts = [
        oneLine(job.title, MAX_TITLE),
        job.agentName,
        elapsed(now - job.startedAt, text),
        moneyText(job.costUsd, speech.locale),
      ]
      return {
        kind: 'group',
        label: escaped(facts.join(' · ')),
        items: [
          { kind: 'action', label: text.show, action: { do: 'open', path: `/jobs/${job.jobId}` } },
          { kind: 'action', label: text.stop, action: { do: 'stop', jobId: job.jobId } },
        ],
      }
    }),
    ...(more > 0 ? [{ kind: 'action', label: text.more(more), action: { do: 'open', path: '/activity' } } as const] : []),
    ...reachItems(webhooks, text),
    { kind: 'line' },
    // Without a runner nobody could pull it, and nothing runs that it could stop.
    ...(runner.state === 'ready'
      ? [{ kind: 'action', label: brake ? text.releaseBrake : text.pullBrake, action: { do: 'brake', on: !brake } } as const]
      : []),
    { kind: 'action', label: text.quit, action: { do: 'quit' } },
  ]
}

/** What can be answered here is what was read here as a whole; the rest leads to the page. No is always safe to say. */
function answerItems({ approvalId, kind, agentName, title, asked, isWhole, choices }: WaitingApproval, speech: Speech): TrayItem {
  const text = speech.words.desktop.tray
  const item = (label: string, decision: 'approve' | 'reject', answer: string | null = null): TrayItem => ({
    kind: 'action',
    label: escaped(label),
    action: { do: 'answer', approvalId, decision, answer },
  })
  const said = asked === undefined ? title : askedText(asked, speech)
  const shown = oneLine(said, MAX_ASKED)
  const isAllThere = isWhole && shown === said
  const answers: Record<WaitingApproval['kind'], TrayItem[]> = {
    tool: [...(isAllThere ? [item(text.approve, 'approve')] : []), item(text.reject, 'reject')],
    question: isAllThere ? choices.map((choice) => item(text.answer(choice), 'approve', choice)) : [],
    budget: [...(isAllThere ? [item(text.extend, 'approve')] : []), item(text.stop, 'reject')],
    unknown_outcome: [],
  }
  return {
    kind: 'group',
    label: escaped(`${agentName}: ${shown}`),
    items: [...answers[kind], { kind: 'action', label: text.look, action: { do: 'open', path: `/approvals?id=${approvalId}` } }],
  }
}

/** How webhooks come in from outside; nothing where nobody has set that up. */
function reachItems(webhooks: WebhookReach, text: TrayWords): TrayItem[] {
  const { tunnel } = webhooks
  const label = reachLabel(webhooks, text)
  if (label === null && tunnel === null) return []
  const items: TrayItem[] = [{ kind: 'line' }]
  if (label !== null) items.push({ kind: 'action', label: escaped(label), action: { do: 'open', path: '/settings/webhooks' } })
  if (tunnel !== null) {
    const { program, state } = tunnel
    const on = state === 'stopped' || state === 'failed'
    const action = { do: 'tunnel', program, on } as const
    items.push({ kind: 'action', label: on ? text.startTunnel(program) : text.stopTunnel(program), action })
  }
  return items
}

function reachLabel({ url, check, tunnel }: WebhookReach, text: TrayWords): string | null {
  const isDown = tunnel?.state === 'failed'
  if (check === 'exposed') return text.exposed
  if (check === 'unreachable') return isDown ? text.tunnelIsDownWhy : text.webhooksDoNot
  if (tunnel?.state === 'starting') return text.tunnelStarts
  if (url === null) return isDown ? text.tunnelIsDown : null
  return check === 'reachable' ? text.webhooksDo(oneLine(url.replace(/^https?:\/\//, ''), MAX_TITLE)) : text.webhooksMay
}

export function summary(running: number, pending: number, runner: RunnerState, text: TrayWords): string {
  if (runner.state === 'starting' || runner.state === 'restarting') return text.runnerStarts
  if (runner.state !== 'ready') return text.runnerIsOff
  return pending > 0 ? `${text.running(running)}, ${text.pending(pending)}` : text.running(running)
}

function elapsed(ms: number, text: TrayWords): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return text.underAMinute
  return minutes < 60 ? text.minutes(minutes) : text.hours(Math.floor(minutes / 60), minutes % 60)
}

/** A menu reads a single & as the mark of a shortcut. */
function escaped(label: string): string {
  return label.replaceAll('&', '&&')
}
