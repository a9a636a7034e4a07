import { type ComponentProps, type JSX, Match, Switch } from 'solid-js'
import { problemOf } from '../../api/problem.ts'
import type { FollowedTurn } from '../../features/chat-turn/use-turn.ts'
import { t } from '../../lib/language.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Timeline } from './Timeline.tsx'

/** The steps of a job, or why there are none. */
export function TimelinePanel(props: Omit<ComponentProps<typeof Timeline>, 'items'> & { work: FollowedTurn }): JSX.Element {
  return (
    <Panel
      title={t('job.timeline')}
      description={props.work.state().steps.length > 0 ? t('job.steps', { count: props.work.state().steps.length }) : undefined}
    >
      <Switch>
        <Match when={props.work.error() && props.work.items().length === 0}>
          <ErrorState compact problem={problemOf(props.work.error())} />
        </Match>
        <Match when={props.work.items().length > 0}>
          <Timeline
            items={props.work.items()}
            result={props.result}
            isOver={props.isOver}
            decisions={props.decisions}
            approvals={props.approvals}
          />
        </Match>
        <Match when={props.work.isPending()}>
          <Skeleton rows={4} />
        </Match>
        <Match when={true}>
          <p class="text-sm text-ink-3">{t('job.timelineEmpty')}</p>
        </Match>
      </Switch>
    </Panel>
  )
}
