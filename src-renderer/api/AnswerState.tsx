import { type JSX, Match, Switch } from 'solid-js'
import { ErrorState, type Problem } from '../ui/ErrorState.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import type { Loaded } from './observe.ts'
import { isNoSuchThing, problemOf } from './problem.ts'

/** Stands in for data that is not there: not found, failed to load, or loading. */
export function AnswerState(props: {
  answer: Pick<Loaded<unknown>, 'error' | 'retry'>
  /** Shown when nothing has this id. Without it, that is an error like any other. */
  missing?: Problem
  rows?: number
  compact?: boolean
}): JSX.Element {
  return (
    <Switch fallback={<Skeleton rows={props.rows ?? 8} />}>
      <Match when={isNoSuchThing(props.answer.error) && props.missing}>{(missing) => <ErrorState problem={missing()} />}</Match>
      <Match when={props.answer.error}>
        <ErrorState compact={props.compact} problem={problemOf(props.answer.error)} onRetry={props.answer.retry} />
      </Match>
    </Switch>
  )
}
