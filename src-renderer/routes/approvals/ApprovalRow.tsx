import { A } from '@solidjs/router'
import { createEffect, type JSX, on, Show } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { OutcomeMark } from '../../features/approvals/AnsweredLine.tsx'
import { headlineOf } from '../../features/approvals/approval-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Time } from '../../ui/Time.tsx'

/** An approval in the list: what it is about, which agent asks, and since when. */
export function ApprovalRow(props: { approval: Approval; href: string; isCurrent: boolean }): JSX.Element {
  let place!: HTMLSpanElement
  createEffect(
    on(
      () => props.isCurrent,
      (isCurrent) => isCurrent && place.scrollIntoView({ block: 'nearest' }),
    ),
  )
  return (
    <A
      href={props.href}
      noScroll
      aria-current={props.isCurrent ? 'page' : undefined}
      class={`flex items-start gap-2.5 rounded-lg px-3 py-2 ${props.isCurrent ? 'bg-pressed' : 'hover:bg-hover'}`}
    >
      <span class="mt-0.5" ref={(element) => (place = element)}>
        <Avatar name={props.approval.agentName} text={props.approval.agentAvatar} size="sm" />
      </span>
      <span class="flex min-w-0 flex-1 flex-col">
        <span class={`line-clamp-2 text-sm wrap-anywhere text-ink ${props.isCurrent ? 'font-medium' : ''}`}>
          {visibleText(headlineOf(props.approval))}
        </span>
        <span class={`truncate text-xs ${props.isCurrent ? 'text-ink-2' : 'text-ink-3'}`}>
          {props.approval.agentName} · <Time at={props.approval.createdAt} />
        </span>
        <Show when={props.approval.status !== 'pending'}>
          <OutcomeMark approval={props.approval} small />
        </Show>
      </span>
    </A>
  )
}
