import { type JSX, Match, Switch } from 'solid-js'
import { t } from '../lib/language.ts'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { useApi } from './ApiProvider.tsx'
import type { Loaded } from './observe.ts'
import { problemOf } from './problem.ts'

/**
 * In the place of a list without rows: that it is loading, that it could not be loaded, or, only once both are ruled out and
 * the runner is there, that it is empty.
 */
export function NothingYet(props: {
  answer: Pick<Loaded<unknown>, 'error' | 'isPending' | 'retry'>
  rows?: number
  compact?: boolean
  /** Of the frame around what is not the empty state. */
  class?: string
  children: JSX.Element
}): JSX.Element {
  const { connection } = useApi()
  const unreachable = () => ({ title: t('common.error.unreachable'), why: t('errors.codes.runner_unavailable') })
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
