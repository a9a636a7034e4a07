import BotOff from 'lucide-solid/icons/bot-off'
import CirclePause from 'lucide-solid/icons/circle-pause'
import Webhook from 'lucide-solid/icons/webhook'
import { type JSX, Match, Show, Switch } from 'solid-js'
import { FIRES_PER_HOUR, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { useTriggers } from '../../../api/queries.ts'
import { countText } from '../../../../resources/locales/numbers.ts'
import { locale, t } from '../../../lib/language.ts'
import { Meter } from '../../../ui/Meter.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Time } from '../../../ui/Time.tsx'
import { AutomationList, AutomationRow } from '../AutomationList.tsx'
import { keepHourFresh } from './keep-hour-fresh.ts'
import { wasTaken } from './outcomes.tsx'

export function TriggerList(): JSX.Element {
  const triggers = useTriggers()
  keepHourFresh(() => triggers.items, triggers.retry)
  return (
    <AutomationList
      pages={triggers}
      kind="webhook"
      icon={Webhook}
      newHref="/automations/webhooks/new"
      exampleHref="/automations/webhooks/new?preset=github_issue"
      textOf={(one) => `${one.name} ${one.agentName ?? ''}`}
      columns={
        <>
          <span class="w-28">{t('automations.webhook.thisHour')}</span>
          <span class="w-28 text-right max-lg:hidden">{t('automations.webhook.total')}</span>
          <span class="w-24 text-right">{t('automations.webhook.lastFire')}</span>
        </>
      }
      row={(trigger) => <TriggerRow trigger={trigger()} />}
    />
  )
}

function TriggerRow(props: { trigger: Trigger }): JSX.Element {
  const isFull = () => props.trigger.firesThisHour >= FIRES_PER_HOUR
  const hour = () =>
    t('automations.webhook.thisHourOf', {
      count: countText(props.trigger.firesThisHour, locale()),
      limit: countText(FIRES_PER_HOUR, locale()),
    })
  const refused = () => {
    const outcome = props.trigger.lastOutcome
    return outcome === null || wasTaken(outcome)
      ? null
      : t('automations.webhook.lastRefused', { outcome: t(`automations.webhook.outcome.${outcome}`) })
  }
  return (
    <AutomationRow
      href={`/automations/webhooks/${props.trigger.id}`}
      icon={<StateIcon trigger={props.trigger} />}
      name={props.trigger.name}
      isPaused={props.trigger.status === 'paused'}
      pill={
        <Show when={props.trigger.status === 'paused'}>
          <Pill>{t('automations.paused')}</Pill>
        </Show>
      }
      detail={
        <span class="flex min-w-0 flex-wrap items-center gap-x-1.5 text-xs text-ink-3">
          <Show when={props.trigger.agentName} fallback={<span class="shrink-0 text-bad">{t('automations.noAgent')}</span>}>
            {(name) => <span class="max-w-40 shrink-0 truncate text-ink-2">{name()}</span>}
          </Show>
          <Show when={refused()}>
            {(sentence) => (
              <>
                <span aria-hidden="true">·</span>
                <span class="min-w-0 text-warn">{sentence()}</span>
              </>
            )}
          </Show>
        </span>
      }
    >
      <span
        class="flex w-28 shrink-0 flex-col gap-1 max-md:hidden"
        title={t('automations.webhook.thisHourWhy', { limit: countText(FIRES_PER_HOUR, locale()) })}
      >
        <span class={`text-xs ${isFull() ? 'text-warn' : 'text-ink-2'}`}>
          <span class="sr-only">{t('automations.webhook.thisHour')}: </span>
          {hour()}
        </span>
        <Meter
          label={t('automations.webhook.thisHour')}
          value={props.trigger.firesThisHour}
          max={FIRES_PER_HOUR}
          text={hour()}
          tone={isFull() ? 'warn' : 'plain'}
        />
      </span>
      <span class="w-28 shrink-0 text-right text-xs text-ink-3 max-lg:hidden">
        <span class="sr-only">{t('automations.webhook.total')}: </span>
        {countText(props.trigger.triggerCount, locale())}
      </span>
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-md:w-auto">
        <span class="sr-only">{t('automations.webhook.lastFire')}: </span>
        <Show when={props.trigger.lastTriggeredAt} fallback={t('automations.webhook.never')}>
          {(at) => <Time at={at()} />}
        </Show>
      </span>
    </AutomationRow>
  )
}

function StateIcon(props: { trigger: Trigger }): JSX.Element {
  return (
    <Switch
      fallback={
        <span class="text-ok" title={t('automations.active')}>
          <Webhook size={16} aria-hidden="true" />
          <span class="sr-only">{t('automations.active')}</span>
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
