import { messageText } from '../../lib/message-text.ts'
import { A } from '@solidjs/router'
import CalendarX from 'lucide-solid/icons/calendar-x'
import Check from 'lucide-solid/icons/check'
import CloudOff from 'lucide-solid/icons/cloud-off'
import CodeXml from 'lucide-solid/icons/code-xml'
import Database from 'lucide-solid/icons/database'
import KeyRound from 'lucide-solid/icons/key-round'
import MailX from 'lucide-solid/icons/mail-x'
import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import ShieldAlert from 'lucide-solid/icons/shield-alert'
import Unplug from 'lucide-solid/icons/unplug'
import UserPlus from 'lucide-solid/icons/user-plus'
import Wallet from 'lucide-solid/icons/wallet'
import Webhook from 'lucide-solid/icons/webhook'
import Wrench from 'lucide-solid/icons/wrench'
import { For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { CodeTaskSummary } from '../../../src-runner/contract/code-tasks.ts'
import { CODING_PROGRAM_NAMES } from '../../../src-runner/contract/coding-programs.ts'
import { JobErrorCode } from '../../../src-runner/contract/errors.ts'
import type { AttentionItem } from '../../../src-runner/contract/notifications.ts'
import { useAction } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { baseName } from '../../features/coding/CodeResultPill.tsx'
import { markSeen } from '../../lib/seen.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { fixFor } from '../../features/chat-turn/JobProblem.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import type { Icon } from '../../ui/icon.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'
import { type Failure, placeOf } from './failures.ts'

/** More would push everything else out of sight. */
export const AT_ONCE = 4

/** What else needs attention, the most urgent first. Shows nothing when there is nothing. */
export function AttentionList(props: {
  failed: readonly Failure[]
  items: readonly AttentionItem[]
  /** Code tasks that wait for a review. */
  code: readonly CodeTaskSummary[]
  lacksModel: boolean
}) {
  const seeable = () => [...props.failed.flat().map((job) => job.id), ...props.code.map((task) => task.jobId)]
  return (
    <Show when={props.lacksModel || props.failed.length > 0 || props.items.length > 0 || props.code.length > 0}>
      <Panel
        title={t('home.attention.title')}
        flush
        actions={
          <Show when={props.failed.length + props.code.length > 1}>
            <Button size="sm" variant="ghost" onClick={() => markSeen(seeable())}>
              {t('home.attention.allSeen')}
            </Button>
          </Show>
        }
      >
        <ul class="pb-1">
          <Show when={props.lacksModel}>
            <Line
              mark={
                <span class="text-warn">
                  <KeyRound size={16} aria-hidden="true" />
                </span>
              }
              title={t('home.attention.noModel')}
              why={t('home.attention.noModelWhy')}
            >
              <ButtonLink href="/models" size="sm">
                {t('home.attention.chooseModel')}
              </ButtonLink>
            </Line>
          </Show>
          <For each={props.items}>{(item) => <ItemLine item={item} />}</For>
          <KeyedFor each={props.failed.slice(0, AT_ONCE)} keyOf={([newest]) => newest.id}>
            {(failure) => <FailedLine failure={failure()} />}
          </KeyedFor>
          <Show when={props.failed.length > AT_ONCE}>
            <li class="px-4 py-2 pl-11">
              <A href="/activity?status=failed" class="text-xs text-accent-ink hover:underline">
                {t('home.attention.more', { count: props.failed.slice(AT_ONCE).flat().length })}
              </A>
            </li>
          </Show>
          <KeyedFor each={props.code.slice(0, AT_ONCE)} keyOf={({ jobId }) => jobId}>
            {(task) => <CodeLine task={task()} />}
          </KeyedFor>
          <Show when={props.code.length > AT_ONCE}>
            <li class="px-4 py-2 pl-11">
              <A href="/code" class="text-xs text-accent-ink hover:underline">
                {t('home.attention.moreCode', { count: props.code.length - AT_ONCE })}
              </A>
            </li>
          </Show>
        </ul>
      </Panel>
    </Show>
  )
}

const ITEM_ICONS: Record<AttentionItem['kind'], Icon> = {
  budget_exhausted: Wallet,
  schedule_missed: CalendarX,
  delivery_refused: Webhook,
  message_undeliverable: MailX,
  channel_logged_out: Unplug,
  channel_failing: Unplug,
  channel_request: UserPlus,
  credential_refused: Unplug,
  mcp_server_failing: Unplug,
  mcp_tool_changed: Wrench,
  public_address_unreachable: CloudOff,
  public_address_changed: CloudOff,
  skill_changed: ShieldAlert,
  database_trouble: Database,
}

/** Disappears with its cause. */
function ItemLine(props: { item: AttentionItem }) {
  const isExposed = () => props.item.title.code === 'address_exposed'
  return (
    <Line
      mark={
        <span class={isExposed() ? 'text-bad' : 'text-warn'}>
          <Dynamic component={isExposed() ? ShieldAlert : ITEM_ICONS[props.item.kind]} size={16} aria-hidden="true" />
        </span>
      }
      title={messageText(props.item.title)}
      href={props.item.path}
      why={messageText(props.item.detail)}
      at={props.item.at}
    >
      <ButtonLink size="sm" href={props.item.path}>
        {t('home.attention.open')}
      </ButtonLink>
    </Line>
  )
}

/** What a coding program left for a review. */
function CodeLine(props: { task: CodeTaskSummary }) {
  const href = () => `/jobs/${props.task.jobId}`
  const see = () => markSeen([props.task.jobId])
  const why = () =>
    t('home.attention.codeWhy', {
      program: CODING_PROGRAM_NAMES[props.task.cli],
      count: props.task.fileCount,
      repository: visibleText(baseName(props.task.repository)),
    })
  return (
    <Line
      mark={
        <span class="text-accent-ink">
          <CodeXml size={16} aria-hidden="true" />
        </span>
      }
      title={props.task.title}
      href={href()}
      why={why()}
      at={props.task.finishedAt ?? props.task.createdAt}
    >
      <ButtonLink size="sm" href={href()}>
        {t('home.attention.review')}
      </ButtonLink>
      <IconButton size="sm" icon={Check} label={t('home.attention.seen')} onClick={see} />
    </Line>
  )
}

function FailedLine(props: { failure: Failure }) {
  const retry = useAction('retryJob')
  const job = () => props.failure[0]
  const why = () => {
    const known = JobErrorCode.safeParse(job().error)
    return known.success ? t(`common.jobError.${known.data}`) : messageText(job().errorMessage) || t('common.status.failed')
  }
  // A job that would fail again for the same reason has its fix first.
  const fix = () => fixFor(job().error, job().agentId)
  const see = () => markSeen(props.failure.map(({ id }) => id))
  const runAgain = () => retry.run({ params: { jobId: job().id } }).catch(toastError)
  return (
    <Line
      mark={<StatusBadge status="failed" show="icon" />}
      title={job().title}
      pill={props.failure.length > 1 ? t('home.attention.times', { count: props.failure.length }) : undefined}
      href={placeOf(props.failure)}
      onOpen={see}
      why={`${job().agentName} · ${why()}`}
      at={job().finishedAt ?? job().createdAt}
    >
      <Show
        when={fix()}
        fallback={
          <Button size="sm" icon={RotateCcw} busy={retry.isRunning} onClick={() => void runAgain()}>
            {t('home.attention.retry')}
          </Button>
        }
      >
        {(place) => (
          <>
            <ButtonLink size="sm" href={place().href}>
              {place().label}
            </ButtonLink>
            <IconButton
              size="sm"
              icon={RotateCcw}
              label={t('home.attention.retry')}
              disabled={retry.isRunning}
              onClick={() => void runAgain()}
            />
          </>
        )}
      </Show>
      <IconButton size="sm" icon={Check} label={t('home.attention.seen')} onClick={see} />
    </Line>
  )
}

const TITLE = 'font-medium wrap-anywhere'

function Line(props: {
  mark: JSX.Element
  title: string
  /** A short text beside the title. */
  pill?: string | undefined
  why: string
  href?: string
  onOpen?: () => void
  at?: number
  children: JSX.Element
}) {
  return (
    <li class="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2 hover:bg-hover">
      {props.mark}
      <div class="min-w-40 flex-1">
        <div class="flex items-baseline gap-2">
          <Show when={props.href} fallback={<span class={TITLE}>{props.title}</span>}>
            {(href) => (
              <A href={href()} class={`${TITLE} hover:underline`} onClick={() => props.onOpen?.()}>
                {props.title}
              </A>
            )}
          </Show>
          <Show when={props.pill}>{(pill) => <Pill tone="bad">{pill()}</Pill>}</Show>
          <Show when={props.at}>{(at) => <Time at={at()} class="shrink-0 text-xs text-ink-3" />}</Show>
        </div>
        <p class="line-clamp-2 text-xs text-ink-2 max-sm:line-clamp-6">{props.why}</p>
      </div>
      <div class="flex items-center gap-1.5 max-sm:pl-7">{props.children}</div>
    </li>
  )
}
