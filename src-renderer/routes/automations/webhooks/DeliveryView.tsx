import { useNavigate } from '@solidjs/router'
import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { DeliveryDetail, Trigger } from '../../../../src-runner/contract/triggers.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useAction } from '../../../api/mutations.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useDelivery } from '../../../api/queries.ts'
import { prettyJson } from '../../../lib/pretty-json.ts'
import { exactTime } from '../../../lib/time.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { locale, t } from '../../../lib/language.ts'
import { RawText } from '../../../features/chat-turn/RawText.tsx'
import { TaskText } from '../../../features/chat-turn/TaskText.tsx'
import { Button } from '../../../ui/Button.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { toast } from '../../../ui/Toasts.tsx'

/** Indenting longer JSON would be slow, so it is shown as it is. */
const PRETTY_UP_TO_CHARS = 300_000

/** Everything that is kept of a delivery. */
export function DeliveryView(props: { deliveryId: string; trigger: Trigger }): JSX.Element {
  const answer = useDelivery(() => props.deliveryId)
  return (
    <Switch fallback={<AnswerState compact answer={answer} rows={3} />}>
      <Match when={answer.data?.delivery.id === props.deliveryId && answer.data?.delivery}>
        {(delivery) => <Opened delivery={delivery()} trigger={props.trigger} />}
      </Match>
    </Switch>
  )
}

function canReplay({ payload, outcome }: DeliveryDetail, { agentId }: Trigger): boolean {
  return payload !== null && agentId !== null && outcome !== 'ping' && outcome !== 'invalid_json'
}

function shownPayload(payload: string): string {
  return payload.length > PRETTY_UP_TO_CHARS ? payload : prettyJson(payload)
}

function Opened(props: { delivery: DeliveryDetail; trigger: Trigger }): JSX.Element {
  const headers = () => Object.entries(props.delivery.headers)
  return (
    <div class="flex flex-col gap-4">
      <div class="flex flex-wrap items-start gap-3">
        <div class="min-w-0 flex-1 basis-64">
          <p class="text-sm text-ink">{t(`automations.webhook.outcomeWhy.${props.delivery.outcome}`)}</p>
          <Show when={props.delivery.missing.length > 0}>
            <p class="text-sm text-warn">
              {t('automations.webhook.emptyWhy', { paths: visibleText(props.delivery.missing.map((path) => `{${path}}`).join(', ')) })}
            </p>
          </Show>
          <p class="text-xs text-ink-3">
            {exactTime(props.delivery.receivedAt, locale())} ·{' '}
            {t('automations.webhook.answered', { status: String(props.delivery.status) })}
            <Show when={props.delivery.senderId}>
              {(id) => (
                <>
                  {' · '}
                  {t('automations.webhook.senderId')}: <span class="font-mono wrap-anywhere">{visibleText(id())}</span>
                </>
              )}
            </Show>
          </p>
        </div>
        <Show when={canReplay(props.delivery, props.trigger)}>
          <Replay delivery={props.delivery} trigger={props.trigger} />
        </Show>
      </div>
      <Show when={props.delivery.payload !== null} fallback={<p class="text-sm text-ink-3">{t('automations.webhook.payloadNone')}</p>}>
        <RawText label={t('automations.webhook.payload')} text={shownPayload(props.delivery.payload!)} />
      </Show>
      <Show when={props.delivery.prompt}>
        {(prompt) => (
          <section aria-label={t('job.task')} class="min-w-0">
            <h3 class="mb-1 text-2xs font-semibold tracking-wide text-ink-3">{t('job.task')}</h3>
            <TaskText given={prompt()} plain={props.delivery.plainPrompt} />
          </section>
        )}
      </Show>
      <Show when={headers().length > 0}>
        <section aria-label={t('automations.webhook.headers')} class="min-w-0">
          <h3 class="text-2xs font-semibold tracking-wide text-ink-3">{t('automations.webhook.headers')}</h3>
          <dl class="mt-1 grid grid-cols-[minmax(8rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-0.5 font-mono text-xs">
            <For each={headers()}>
              {([name, value]) => (
                <>
                  <dt class="wrap-anywhere text-ink-3">{name}</dt>
                  <dd class="wrap-anywhere text-ink-2">{visibleText(value)}</dd>
                </>
              )}
            </For>
          </dl>
        </section>
      </Show>
    </div>
  )
}

function Replay(props: { delivery: DeliveryDetail; trigger: Trigger }): JSX.Element {
  const navigate = useNavigate()
  const replay = useAction('replayDelivery')
  const [isAsking, setAsking] = createSignal(false)
  const replayNow = async () => {
    const { jobId } = await replay.run({ params: { deliveryId: props.delivery.id } })
    toast({
      text: t('automations.webhook.replayed'),
      action: { label: t('automations.webhook.openJob'), onClick: () => navigate(`/jobs/${jobId}`) },
    })
  }
  return (
    <>
      <Button size="sm" icon={RotateCcw} onClick={() => setAsking(true)}>
        {t('automations.webhook.replay')}
      </Button>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('automations.webhook.replayTitle')}
        confirm={t('automations.webhook.replayNow')}
        onConfirm={replayNow}
        describeError={sentenceOf}
      >
        {t(props.delivery.outcome === 'accepted' ? 'automations.webhook.replayText' : 'automations.webhook.replayTextFirst', {
          agent: props.trigger.agentName ?? t('common.agent'),
        })}
      </ConfirmDialog>
    </>
  )
}
