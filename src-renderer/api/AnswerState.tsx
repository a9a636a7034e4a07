import { type JSX, Match, Switch } from 'solid-js'
import { ErrorState, type Problem } from '../ui/ErrorState.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import type { Loaded } from './observe.ts'
import { isNoSuchThing, problemOf } from './problem.ts'

/** In the place of what was asked for: that there is no such thing, why it cannot be shown, or that it is on its way. */
export function AnswerState(props: {
  answer: Pick<Loaded<unknown>, 'error' | 'retry'>
  /** What to say where nothing has this id. Left out: what is said of any error. */
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
