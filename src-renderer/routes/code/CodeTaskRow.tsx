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
      {/* On a phone the title has a line of its own. The details must not widen the column of the title. */}
      <div class="grid min-w-0 flex-1 grid-cols-[minmax(0,max-content)_max-content_1fr] items-center gap-x-2 max-sm:flex max-sm:flex-wrap">
        <span class="truncate text-sm font-medium text-ink max-sm:basis-full">{props.task.title}</span>
        <CodeResultPill task={props.task} />
        <div class="col-span-3 col-start-1 flex w-0 min-w-full items-center gap-1.5 text-xs text-ink-3 max-sm:min-w-0 max-sm:flex-1">
          <span class="max-w-[50%] shrink-0 truncate text-ink-2" title={visibleText(props.task.repository)}>
            {visibleText(baseName(props.task.repository))}
          </span>
          <Dot />
          <span class="shrink-0 max-sm:shrink max-sm:truncate">{CODING_PROGRAM_NAMES[props.task.cli]}</span>
          <Show
            when={isOver()}
            fallback={
              <>
                <Dot />
                <span class="truncate">{t(`common.status.${props.task.jobStatus}`)}</span>
              </>
            }
          >
            <span class="contents max-sm:hidden">
              <Dot />
              <span class="truncate font-mono text-2xs" title={visibleText(props.task.branch)}>
                {visibleText(props.task.branch)}
              </span>
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
