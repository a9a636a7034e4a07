import { A, useSearchParams } from '@solidjs/router'
import InboxIcon from 'lucide-solid/icons/inbox'
import { createMemo, type JSX, Match, onMount, Show, Switch } from 'solid-js'
import { type Delivery, INBOX_KEEPS, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { NothingYet } from '../../../api/NothingYet.tsx'
import { useDeliveries } from '../../../api/queries.ts'
import { bytesText, countText } from '../../../../resources/locales/numbers.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { locale, t } from '../../../lib/language.ts'
import { ArrowList } from '../../../ui/ArrowList.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { FoldIcon } from '../../../ui/Fold.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Time } from '../../../ui/Time.tsx'
import { DeliveryView } from './DeliveryView.tsx'
import { OutcomeIcon } from './outcomes.tsx'

/**
 * The deliveries of a webhook, the newest first. A row unfolds in place. `?delivery=` names the open one; `?job=` opens the
 * one that started a job.
 */
export function Inbox(props: { trigger: Trigger }): JSX.Element {
  const [search, setSearch] = useSearchParams<{ delivery?: string; job?: string }>()
  const answer = useDeliveries(() => props.trigger.id)
  const deliveries = () => answer.data?.deliveries ?? []
  const openId = createMemo(() => {
    if (search.delivery !== undefined) return search.delivery
    // A repeat has the id of the job too, but did not start it.
    const ofJob = deliveries().filter((delivery) => search.job !== undefined && delivery.jobId === search.job)
    return (ofJob.find((delivery) => delivery.outcome === 'accepted') ?? ofJob[0])?.id
  })
  const toggle = (id: string) => setSearch({ delivery: openId() === id ? undefined : id, job: undefined }, { replace: true, scroll: false })
  const isGone = () =>
    answer.data !== undefined &&
    (search.delivery !== undefined || search.job !== undefined) &&
    !deliveries().some((delivery) => delivery.id === openId())
  return (
    <Panel
      title={t('automations.webhook.inbox')}
      description={t('automations.webhook.inboxText', { count: countText(INBOX_KEEPS, locale()) })}
      flush
    >
      <Show when={isGone()}>
        <div class="px-4 pb-3">
          <ErrorState compact problem={{ title: t('automations.webhook.deliveryGone'), why: t('automations.webhook.deliveryGoneWhy') }} />
        </div>
      </Show>
      <Switch>
        <Match when={deliveries().length === 0}>
          <NothingYet answer={answer} rows={4} compact class="p-4 pt-0">
            <EmptyState compact icon={InboxIcon} title={t('automations.webhook.inboxEmpty')}>
              {t('automations.webhook.inboxEmptyText')}
            </EmptyState>
          </NothingYet>
        </Match>
        <Match when={true}>
          <ArrowList label={t('automations.webhook.deliveries')} class="border-t border-line">
            <KeyedFor each={deliveries()} keyOf={(delivery) => delivery.id}>
              {(delivery) => (
                <DeliveryRow
                  delivery={delivery()}
                  trigger={props.trigger}
                  isOpen={delivery().id === openId()}
                  onToggle={() => toggle(delivery().id)}
                />
              )}
            </KeyedFor>
          </ArrowList>
        </Match>
      </Switch>
    </Panel>
  )
}

function DeliveryRow(props: { delivery: Delivery; trigger: Trigger; isOpen: boolean; onToggle: () => void }): JSX.Element {
  let place!: HTMLLIElement
  // Scrolls to a delivery that the URL names. One that the person opens is visible already.
  onMount(() => props.isOpen && requestAnimationFrame(() => place.scrollIntoView({ block: 'start' })))
  return (
    <li ref={(element) => (place = element)} class="scroll-mt-4 border-b border-line last:border-b-0">
      <div class={`flex items-center gap-3 pr-4 ${props.isOpen ? 'bg-inset' : 'hover:bg-hover'}`}>
        <button
          data-row=""
          type="button"
          aria-expanded={props.isOpen}
          class="flex min-w-0 flex-1 items-center gap-3 py-2 pl-3 text-left -outline-offset-2"
          onClick={() => props.onToggle()}
        >
          <FoldIcon open={props.isOpen} />
          <OutcomeIcon outcome={props.delivery.outcome} />
          <span class="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5">
            <span class="text-sm text-ink">{t(`automations.webhook.outcome.${props.delivery.outcome}`)}</span>
            <Show when={props.delivery.times > 1}>
              <Pill tone="warn">{t('automations.webhook.times', { count: props.delivery.times })}</Pill>
            </Show>
            <Show when={props.delivery.kind !== 'webhook'}>
              <Pill tone="accent">
                {props.delivery.kind === 'test' ? t('automations.webhook.test') : t('automations.webhook.replayOf')}
              </Pill>
            </Show>
            <Show when={props.delivery.missing.length > 0}>
              <Pill tone="warn">{t('automations.webhook.emptyCount', { count: props.delivery.missing.length })}</Pill>
            </Show>
            <Show when={props.delivery.eventName}>
              {(name) => <span class="max-w-56 truncate font-mono text-xs text-ink-3">{visibleText(name())}</span>}
            </Show>
          </span>
          <span class="w-16 shrink-0 text-right text-xs text-ink-3 max-md:hidden">
            {/* 0: the body was not read. */}
            {props.delivery.bytes === 0 ? '' : bytesText(props.delivery.bytes, locale())}
          </span>
          <Time at={props.delivery.receivedAt} class="w-20 shrink-0 text-right text-xs text-ink-3" />
        </button>
        <span class="w-10 shrink-0 text-right text-xs">
          <Show when={props.delivery.jobId}>
            {(id) => (
              <A href={`/jobs/${id()}`} class="font-medium text-accent-ink hover:underline max-md:inline-block">
                {t('automations.webhook.job')}
              </A>
            )}
          </Show>
        </span>
      </div>
      <Show when={props.isOpen}>
        <div class="border-t border-line bg-inset px-4 py-4">
          <DeliveryView deliveryId={props.delivery.id} trigger={props.trigger} />
        </div>
      </Show>
    </li>
  )
}
