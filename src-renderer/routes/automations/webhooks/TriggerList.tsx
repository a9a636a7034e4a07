import { A } from '@solidjs/router'
import BotOff from 'lucide-solid/icons/bot-off'
import CirclePause from 'lucide-solid/icons/circle-pause'
import Plus from 'lucide-solid/icons/plus'
import Webhook from 'lucide-solid/icons/webhook'
import { type JSX, Match, Show, Switch } from 'solid-js'
import { FIRES_PER_HOUR, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { problemOf } from '../../../api/problem.ts'
import { useTriggers } from '../../../api/queries.ts'
import { countText } from '../../../kit/numbers.ts'
import { locale, words } from '../../../kit/words/words.ts'
import { ArrowList } from '../../../ui/ArrowList.tsx'
import { ButtonLink } from '../../../ui/ButtonLink.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Meter } from '../../../ui/Meter.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Time } from '../../../ui/Time.tsx'
import { createFoundPart, FindField, MoreOfPart, NothingFound } from '../FoundPart.tsx'
import { wasTaken } from './outcomes.tsx'

export function TriggerList(): JSX.Element {
  const text = () => words().automations.webhook
  const triggers = useTriggers()
  const part = createFoundPart(triggers, (one) => `${one.name} ${one.agentName ?? ''}`)
  return (
    <Switch>
      <Match when={triggers.error && triggers.items.length === 0}>
        <ErrorState problem={problemOf(triggers.error)} onRetry={triggers.retry} />
      </Match>
      <Match when={triggers.isPending}>
        <Skeleton rows={4} />
      </Match>
      <Match when={triggers.items.length === 0}>
        <EmptyState
          icon={Webhook}
          title={text().emptyTitle}
          action={
            <>
              <ButtonLink variant="primary" icon={Plus} href="/automations/webhooks/new">
                {text().new}
              </ButtonLink>
              <ButtonLink href="/automations/webhooks/new?preset=github_issue">{text().example}</ButtonLink>
            </>
          }
        >
          {text().emptyText}
        </EmptyState>
      </Match>
      <Match when={true}>
        <div class="flex flex-col gap-4">
          <FindField part={part} label={text().find} />
          <div class="overflow-hidden rounded-xl border border-line bg-surface">
            <div aria-hidden="true" class="flex gap-4 border-b border-line px-4 py-1.5 text-2xs text-ink-3 max-md:hidden">
              <span class="flex-1 pl-7">{text().name}</span>
              <span class="w-28">{text().thisHour}</span>
              <span class="w-28 text-right max-lg:hidden">{text().total}</span>
              <span class="w-24 text-right">{text().lastFire}</span>
            </div>
            <ArrowList label={text().list}>
              <KeyedFor each={part.shown()} keyOf={(trigger) => trigger.id}>
                {(trigger) => <TriggerRow trigger={trigger()} />}
              </KeyedFor>
            </ArrowList>
            <NothingFound part={part} />
          </div>
          <MoreOfPart part={part} />
        </div>
      </Match>
    </Switch>
  )
}

function TriggerRow(props: { trigger: Trigger }): JSX.Element {
  const text = () => words().automations.webhook
  const isFull = () => props.trigger.firesThisHour >= FIRES_PER_HOUR
  const hour = () => text().thisHourOf(countText(props.trigger.firesThisHour, locale()), countText(FIRES_PER_HOUR, locale()))
  const refused = () => {
    const outcome = props.trigger.lastOutcome
    return outcome === null || wasTaken(outcome) ? null : text().lastRefused(text().outcome[outcome])
  }
  return (
    <li class="border-b border-line last:border-b-0">
      <A
        data-row=""
        href={`/automations/webhooks/${props.trigger.id}`}
        class="flex items-center gap-4 px-4 py-2.5 -outline-offset-2 hover:bg-hover"
      >
        <span class="flex min-w-0 flex-1 items-center gap-3">
          <StateIcon trigger={props.trigger} />
          <span class="min-w-0 flex-1">
            <span class="flex min-w-0 items-center gap-2">
              <span class={`truncate text-sm font-medium ${props.trigger.status === 'paused' ? 'text-ink-2' : 'text-ink'}`}>
                {props.trigger.name}
              </span>
              <Show when={props.trigger.status === 'paused'}>
                <Pill>{words().automations.paused}</Pill>
              </Show>
            </span>
            <span class="flex min-w-0 items-center gap-1.5 text-xs text-ink-3">
              <Show when={props.trigger.agentName} fallback={<span class="shrink-0 text-bad">{words().automations.noAgent}</span>}>
                {(name) => <span class="max-w-40 shrink-0 truncate text-ink-2">{name()}</span>}
              </Show>
              <Show when={refused()}>
                {(sentence) => (
                  <>
                    <span aria-hidden="true">·</span>
                    <span class="min-w-0 truncate text-warn">{sentence()}</span>
                  </>
                )}
              </Show>
            </span>
          </span>
        </span>
        <span class="flex w-28 shrink-0 flex-col gap-1 max-md:hidden" title={text().thisHourWhy(countText(FIRES_PER_HOUR, locale()))}>
          <span class={`text-xs ${isFull() ? 'text-warn' : 'text-ink-2'}`}>
            <span class="sr-only">{text().thisHour}: </span>
            {hour()}
          </span>
          <Meter
            label={text().thisHour}
            value={props.trigger.firesThisHour}
            max={FIRES_PER_HOUR}
            text={hour()}
            tone={isFull() ? 'warn' : 'plain'}
          />
        </span>
        <span class="w-28 shrink-0 text-right text-xs text-ink-3 max-lg:hidden">
          <span class="sr-only">{text().total}: </span>
          {countText(props.trigger.triggerCount, locale())}
        </span>
        <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-md:w-auto">
          <span class="sr-only">{text().lastFire}: </span>
          <Show when={props.trigger.lastTriggeredAt} fallback={text().never}>
            {(at) => <Time at={at()} />}
          </Show>
        </span>
      </A>
    </li>
  )
}

function StateIcon(props: { trigger: Trigger }): JSX.Element {
  return (
    <Switch
      fallback={
        <span class="text-ok" title={words().automations.active}>
          <Webhook size={16} aria-hidden="true" />
          <span class="sr-only">{words().automations.active}</span>
        </span>
      }
    >
      <Match when={props.trigger.agentId === null}>
        <span class="text-bad">
          <BotOff size={16} aria-hidden="true" />
        </span>
      </Match>
      <Match when={props.trigger.status === 'paused'}>
        <span class="text-ink-3">
          <CirclePause size={16} aria-hidden="true" />
        </span>
      </Match>
    </Switch>
  )
}
