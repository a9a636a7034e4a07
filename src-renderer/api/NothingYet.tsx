import { type JSX, Match, Switch } from 'solid-js'
import { t } from '../lib/language.ts'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { useApi } from './ApiProvider.tsx'
import type { Loaded } from './observe.ts'
import { problemOf } from './problem.ts'

/**
 * Stands in for a list without rows: loading, failed to load, or empty. It says "empty" only when the list was loaded and
 * the runner is connected.
 */
export function NothingYet(props: {
  answer: Pick<Loaded<unknown>, 'error' | 'isPending' | 'retry'>
  rows?: number
  compact?: boolean
  /** For the loading and the error state. */
  class?: string
  children: JSX.Element
}): JSX.Element {
  const { connection } = useApi()
  const unreachable = () => ({ title: t('common.error.unreachable'), why: t('messages.error_runner_unavailable') })
  return (
    <Switch fallback={props.children}>
      <Match when={props.answer.error}>
        <div class={props.class}>
          <ErrorState compact={props.compact} problem={problemOf(props.answer.error)} onRetry={props.answer.retry} />
        </div>
      </Match>
      <Match when={!props.answer.isPending && connection() === 'lost'}>
        <div class={props.class}>
          <ErrorState compact={props.compact} problem={unreachable()} onRetry={props.answer.retry} />
        </div>
      </Match>
      <Match when={props.answer.isPending || connection() !== 'open'}>
        <Skeleton rows={props.rows ?? 6} class={props.class} />
      </Match>
    </Switch>
  )
}
