import TriangleAlert from 'lucide-solid/icons/triangle-alert'
import { type JSX, Show } from 'solid-js'
import { t } from '../lib/language.ts'
import { Button } from './Button.tsx'

export type Problem = {
  /** What happened. */
  title: string
  /** Why, and what to do next. */
  why: string
  /** What it is called in the log, for a report. */
  code?: string
}

/** What happened, why, and what to do, in the place where the content would be. */
export function ErrorState(props: { problem: Problem; onRetry?: () => void; actions?: JSX.Element; compact?: boolean }) {
  return (
    <div role="alert" class={`flex items-start gap-3 rounded-xl border border-line bg-surface ${props.compact ? 'p-3' : 'p-4'}`}>
      <span class="mt-0.5 shrink-0 text-bad">
        <TriangleAlert size={17} aria-hidden="true" />
      </span>
      <div class="min-w-0 flex-1">
        <p class="text-sm font-semibold text-ink">{props.problem.title}</p>
        <p class="text-sm text-ink-2 wrap-break-word">{props.problem.why}</p>
        <Show when={props.problem.code}>{(code) => <p class="mt-1 font-mono text-2xs text-ink-3">{code()}</p>}</Show>
        <Show when={props.onRetry || props.actions}>
          <div class="mt-3 flex flex-wrap gap-2">
            <Show when={props.onRetry}>
              {(retry) => (
                <Button size="sm" onClick={() => retry()()}>
                  {t('common.retry')}
                </Button>
              )}
            </Show>
            {props.actions}
          </div>
        </Show>
      </div>
    </div>
  )
}
