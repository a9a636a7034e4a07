import { type JSX, Show } from 'solid-js'
import { CODING_PROGRAM_NAMES } from '../../../src-runner/contract/coding-programs.ts'
import type { CodeTaskSummary } from '../../../src-runner/contract/code-tasks.ts'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { baseName, CodeResultPill } from '../../features/coding/CodeResultPill.tsx'
import { LineCounts } from '../../features/coding/LineCounts.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Money } from '../../ui/Money.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'

export const ROW_HEIGHT = 58

/** A code task in a list: its state, repository, program, branch, changes and cost. */
export function CodeTaskRow(props: { task: CodeTaskSummary; isActive: boolean }): JSX.Element {
  const isOver = () => isTerminal(props.task.jobStatus)
  return (
    <div
      class={`flex h-full items-center gap-3 border-b border-line px-4 hover:bg-hover ${props.isActive ? 'bg-hover in-focus-visible:outline-2 in-focus-visible:-outline-offset-2 in-focus-visible:outline-accent-ink' : ''}`}
    >
      <StatusBadge status={props.task.jobStatus} show="icon" />
      <div class="min-w-0 flex-1">
        <div class="flex min-w-0 items-center gap-2">
          <span class="truncate text-sm font-medium text-ink">{props.task.title}</span>
          <CodeResultPill task={props.task} />
        </div>
        <div class="flex min-w-0 items-center gap-1.5 text-xs text-ink-3">
          <span class="max-w-[50%] shrink-0 truncate text-ink-2" title={visibleText(props.task.repository)}>
            {visibleText(baseName(props.task.repository))}
          </span>
          <Dot />
          <span class="shrink-0">{CODING_PROGRAM_NAMES[props.task.cli]}</span>
          <Dot />
          <Show when={isOver()} fallback={<span class="truncate">{t(`common.status.${props.task.jobStatus}`)}</span>}>
            <span class="truncate font-mono text-2xs" title={visibleText(props.task.branch)}>
              {visibleText(props.task.branch)}
            </span>
          </Show>
        </div>
      </div>
      <LineCounts additions={props.task.additions} deletions={props.task.deletions} class="w-24 justify-end max-md:w-auto" />
      <span class="w-24 shrink-0 text-right text-xs text-ink-2 max-lg:hidden">
        <Show when={isOver() || props.task.costUsd > 0}>
          <Money usd={props.task.costUsd} priced={props.task.priced} />
        </Show>
      </span>
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        <Time at={props.task.createdAt} />
      </span>
    </div>
  )
}

function Dot(): JSX.Element {
  return (
    <span class="shrink-0" aria-hidden="true">
      ·
    </span>
  )
}
