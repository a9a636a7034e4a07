import CircleCheck from 'lucide-solid/icons/circle-check'
import CircleSlash from 'lucide-solid/icons/circle-slash'
import CircleX from 'lucide-solid/icons/circle-x'
import Info from 'lucide-solid/icons/info'
import { type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Approval, ApprovalStatus } from '../../../src-runner/contract/approvals.ts'
import { t } from '../../lib/language.ts'
import type { Icon } from '../../ui/icon.ts'
import { Time } from '../../ui/Time.tsx'
import { outcomeOf } from './approval-text.ts'
import type { Outcome } from './use-answer.ts'

const LOOKS: Record<ApprovalStatus, { icon: Icon; tone: string }> = {
  pending: { icon: Info, tone: 'text-ink-3' },
  approved: { icon: CircleCheck, tone: 'text-ok' },
  rejected: { icon: CircleX, tone: 'text-ink-2' },
  expired: { icon: CircleSlash, tone: 'text-ink-3' },
  withdrawn: { icon: CircleSlash, tone: 'text-ink-3' },
}

/** The outcome of an approval: an icon and a few words. */
export function OutcomeMark(props: { approval: Approval; small?: boolean }): JSX.Element {
  return (
    <span
      class={`inline-flex items-center gap-1.5 font-medium ${props.small ? 'text-xs' : 'text-sm'} ${LOOKS[props.approval.status].tone}`}
    >
      <Dynamic component={LOOKS[props.approval.status].icon} size={props.small ? 13 : 16} aria-hidden="true" />
      {outcomeOf(props.approval)}
    </span>
  )
}

/** The outcome with the person's answer or note. */
export function AnsweredLine(props: { approval: Approval; compact?: boolean }): JSX.Element {
  return (
    <div class={`flex min-w-0 flex-col gap-1 ${props.compact ? 'text-xs' : 'text-sm'}`}>
      <p class="flex flex-wrap items-center gap-x-2">
        <span role="status">
          <OutcomeMark approval={props.approval} small={props.compact} />
        </span>
        <Show when={props.approval.answeredAt}>{(at) => <Time at={at()} class="text-xs text-ink-3" />}</Show>
        <Show when={props.approval.status === 'expired' && !props.compact}>
          <span class="text-ink-3">{t('approvals.expiredWhy')}</span>
        </Show>
        <Show when={props.approval.status === 'withdrawn' && !props.compact}>
          <span class="text-ink-3">{t('approvals.withdrawnWhy')}</span>
        </Show>
      </p>
      <Show when={props.approval.kind === 'question' && props.approval.answer}>
        {(answer) => <LabelledText name={t('approvals.yourAnswer')} text={answerText(props.approval, answer())} />}
      </Show>
      <Show when={props.approval.note}>{(note) => <LabelledText name={t('approvals.yourNote')} text={note()} />}</Show>
    </div>
  )
}

function answerText({ question }: Approval, answer: string): string {
  if (question?.form === 'done') return t('approvals.doneThere')
  if (question?.form === 'yes_no' && (answer === 'yes' || answer === 'no')) return t(`approvals.${answer}`)
  return answer
}

function LabelledText(props: { name: string; text: string }): JSX.Element {
  return (
    <p class="wrap-anywhere whitespace-pre-wrap text-ink-2">
      <span class="text-ink-3">{props.name}:</span> {props.text}
    </p>
  )
}

/** Why the person's answer did not count, or could not be sent. */
export function OutcomeNote(props: { outcome: Outcome | null; approval: Approval }): JSX.Element {
  const note = (): { title: string; why: string } | null => {
    if (props.outcome === null || props.outcome.kind === 'mine') return null
    if (props.outcome.kind === 'failed') return { title: t('common.error.title'), why: props.outcome.why }
    if (props.outcome.kind === 'too_late') return { title: t('approvals.tooLate'), why: t('approvals.tooLateWhy') }
    if (props.approval.status === 'withdrawn') return { title: t('approvals.withdrawnNow'), why: '' }
    return { title: t('approvals.elsewhere'), why: t('approvals.elsewhereWhy') }
  }
  return (
    <Show when={note()}>
      {(shown) => (
        <p role="alert" class="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <span class="font-medium">{shown().title}</span> {shown().why}
        </p>
      )}
    </Show>
  )
}
