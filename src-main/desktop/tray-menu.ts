import type { RunningJob, WaitingApproval, WebhookReach } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import type { RunnerState } from '../contract/desktop-api.ts'

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
const SHOWN_JOBS = 12

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
}: {
  jobs: readonly RunningJob[]
  pending: number
  approvals: number
  waiting: readonly WaitingApproval[]
  brake: boolean
  webhooks: WebhookReach
  runner: RunnerState
  now: number
}): TrayItem[] {
  const more = jobs.length - SHOWN_JOBS
  return [
    { kind: 'action', label: 'Open Deckhand', action: { do: 'open' } },
    ...(approvals > 0 ? [{ kind: 'action', label: waitingLabel(approvals), action: { do: 'open', path: '/approvals' } } as const] : []),
    ...waiting.map(answerItems),
    { kind: 'line' },
    ...(brake ? [{ kind: 'text', label: 'The emergency brake is on' } as const] : []),
    { kind: 'text', label: summary(jobs.length, pending, runner) },
    ...jobs.slice(0, SHOWN_JOBS).map((job): TrayItem => {
      const label = escaped(`${cut(job.title)} · ${job.agentName} · ${elapsed(now - job.startedAt)} · ${money(job.costUsd)}`)
      return {
        kind: 'group',
        label,
        items: [
          { kind: 'action', label: 'Show', action: { do: 'open', path: `/jobs/${job.jobId}` } },
          { kind: 'action', label: 'Stop', action: { do: 'stop', jobId: job.jobId } },
        ],
      }
    }),
    ...(more > 0 ? [{ kind: 'action', label: `${more} more…`, action: { do: 'open', path: '/activity' } } as const] : []),
    ...reachItems(webhooks),
    { kind: 'line' },
    // Without a runner nobody could pull it, and nothing runs that it could stop.
    ...(runner.state === 'ready' ? [{ kind: 'action', label: brakeLabel(brake), action: { do: 'brake', on: !brake } } as const] : []),
    { kind: 'action', label: 'Quit Deckhand', action: { do: 'quit' } },
  ]
}

function waitingLabel(approvals: number): string {
  return approvals === 1 ? '1 approval is waiting…' : `${approvals} approvals are waiting…`
}

/** What can be answered here is what was read here as a whole; the rest leads to the page. No is always safe to say. */
function answerItems({ approvalId, kind, agentName, title, isWhole, choices }: WaitingApproval): TrayItem {
  const item = (label: string, decision: 'approve' | 'reject', answer: string | null = null): TrayItem => ({
    kind: 'action',
    label: escaped(label),
    action: { do: 'answer', approvalId, decision, answer },
  })
  const answers: Record<WaitingApproval['kind'], TrayItem[]> = {
    tool: [...(isWhole ? [item('Approve once', 'approve')] : []), item('Reject', 'reject')],
    question: isWhole ? choices.map((choice) => item(`Answer “${choice}”`, 'approve', choice)) : [],
    budget: [...(isWhole ? [item('Extend', 'approve')] : []), item('Stop', 'reject')],
    unknown_outcome: [],
  }
  return {
    kind: 'group',
    label: escaped(`${agentName}: ${title}`),
    items: [...answers[kind], { kind: 'action', label: 'Open…', action: { do: 'open', path: `/approvals?id=${approvalId}` } }],
  }
}

/** How webhooks come in from outside; nothing where nobody has set that up. */
function reachItems(webhooks: WebhookReach): TrayItem[] {
  const { tunnel } = webhooks
  const label = reachLabel(webhooks)
  if (label === null && tunnel === null) return []
  const items: TrayItem[] = [{ kind: 'line' }]
  if (label !== null) items.push({ kind: 'action', label: escaped(label), action: { do: 'open', path: '/settings#outside' } })
  if (tunnel !== null) {
    const { program, state } = tunnel
    const on = state === 'stopped' || state === 'failed'
    items.push({ kind: 'action', label: `${on ? 'Start' : 'Stop'} the tunnel (${program})`, action: { do: 'tunnel', program, on } })
  }
  return items
}

function reachLabel({ url, check, tunnel }: WebhookReach): string | null {
  const isDown = tunnel?.state === 'failed'
  if (check === 'unreachable') return isDown ? 'Tunnel down: webhooks do not come in' : 'Webhooks do not come in from outside'
  if (tunnel?.state === 'starting') return 'The tunnel is starting…'
  if (url === null) return isDown ? 'Tunnel down' : null
  return check === 'reachable' ? `Webhooks reachable at ${cut(url.replace(/^https?:\/\//, ''))}` : 'Looking whether webhooks come in…'
}

function brakeLabel(brake: boolean): string {
  return brake ? 'Release the emergency brake' : 'Pull the emergency brake'
}

export function summary(running: number, pending: number, runner: RunnerState): string {
  if (runner.state === 'starting' || runner.state === 'restarting') return 'The runner is starting…'
  if (runner.state !== 'ready') return 'The runner is not running'
  const jobs = running === 0 ? 'No jobs running' : running === 1 ? '1 job running' : `${running} jobs running`
  return pending > 0 ? `${jobs}, ${pending} waiting` : jobs
}

function elapsed(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return 'under a minute'
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Two decimals; below one cent four, so that a cheap model does not look free. */
function money(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`
}

function cut(title: string): string {
  const line = title.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join('')}…` : line
}

/** A menu reads a single & as the mark of a shortcut. */
function escaped(label: string): string {
  return label.replaceAll('&', '&&')
}
