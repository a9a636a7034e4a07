import { A, useNavigate, useParams } from '@solidjs/router'
import CopyPlus from 'lucide-solid/icons/copy-plus'
import KeyRound from 'lucide-solid/icons/key-round'
import Pause from 'lucide-solid/icons/pause'
import Play from 'lucide-solid/icons/play'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, type JSX, Match, onCleanup, Show, Switch } from 'solid-js'
import { FIRES_PER_HOUR, type Trigger } from '../../../../src-runner/contract/triggers.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useAction, usePauseTrigger, useResumeTrigger } from '../../../api/mutations.ts'
import { isNoSuchThing, sentenceOf } from '../../../api/problem.ts'
import { useTrigger } from '../../../api/queries.ts'
import { toastError } from '../../../api/toast-error.ts'
import { countText } from '../../../../resources/locales/numbers.ts'
import { locale, t } from '../../../lib/language.ts'
import { Button } from '../../../ui/Button.tsx'
import { ButtonLink } from '../../../ui/ButtonLink.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { Menu } from '../../../ui/Menu.tsx'
import { Meter } from '../../../ui/Meter.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Screen } from '../../../ui/Screen.tsx'
import { Time } from '../../../ui/Time.tsx'
import { BackLink } from '../../../ui/BackLink.tsx'
import { DeleteDialog } from '../DeleteDialog.tsx'
import { Fact, Facts } from '../Facts.tsx'
import { AddressPanel, Reach } from './AddressPanel.tsx'
import { forgetFreshAddress, freshAddressOf, keepFreshAddress } from './fresh-address.ts'
import { Inbox } from './Inbox.tsx'
import { sampleFor } from './json-paths.ts'
import { keepHourFresh } from './keep-hour-fresh.ts'
import { TestDelivery } from './TestDelivery.tsx'

/** One webhook: its state, its settings and its inbox. */
export function TriggerScreen(): JSX.Element {
  const params = useParams<{ triggerId: string }>()
  const answer = useTrigger(() => params.triggerId)
  keepHourFresh(() => (answer.data === undefined ? [] : [answer.data.trigger]), answer.retry)
  onCleanup(forgetFreshAddress)
  return (
    <Screen>
      <BackLink href="/automations/webhooks">{t('automations.webhooks')}</BackLink>
      <Show when={answer.data === undefined}>
        <h1 class="sr-only">{t('automations.webhooks')}</h1>
      </Show>
      <Switch
        fallback={
          <AnswerState answer={answer} missing={{ title: t('automations.webhook.notFound'), why: t('automations.webhook.notFoundWhy') }} />
        }
      >
        <Match when={!isNoSuchThing(answer.error) && answer.data?.trigger.id === params.triggerId && answer.data?.trigger}>
          {(trigger) => <TriggerPage trigger={trigger()} />}
        </Match>
      </Switch>
    </Screen>
  )
}

function TriggerPage(props: { trigger: Trigger }): JSX.Element {
  const fresh = () => freshAddressOf(props.trigger.id)
  return (
    <>
      <Head trigger={props.trigger} />
      <div class="flex flex-col gap-4">
        <Show when={fresh()}>{(address) => <AddressPanel address={address()} trigger={props.trigger} />}</Show>
        <Show when={props.trigger.agentId === null}>
          <p class="rounded-lg bg-bad-soft px-3.5 py-2 text-sm text-bad">{t('automations.webhook.noAgentText')}</p>
        </Show>
        <Show when={props.trigger.status === 'paused'}>
          <p class="rounded-lg bg-inset px-3.5 py-2 text-sm text-ink-2">{t('automations.webhook.pausedText')}</p>
        </Show>
        <TriggerFacts trigger={props.trigger} />
        <Inbox trigger={props.trigger} />
        <TestDelivery trigger={props.trigger} first={fresh()?.sample || sampleFor(props.trigger.taskTemplate)} />
        <Panel
          title={t('automations.webhook.templateFact')}
          actions={
            <ButtonLink size="sm" icon={CopyPlus} href={`/automations/webhooks/new?from=${props.trigger.id}`}>
              {t('automations.duplicate')}
            </ButtonLink>
          }
        >
          <p class="text-md wrap-anywhere whitespace-pre-wrap text-ink">{props.trigger.taskTemplate}</p>
          <p class="mt-3 text-xs text-ink-3">{t('automations.webhook.cannotEdit')}</p>
        </Panel>
      </div>
    </>
  )
}

function Head(props: { trigger: Trigger }): JSX.Element {
  const navigate = useNavigate()
  const pause = usePauseTrigger()
  const resume = useResumeTrigger()
  const rotate = useAction('rotateTriggerSecret')
  const remove = useAction('deleteTrigger')
  const [asking, setAsking] = createSignal<'rotate' | 'delete' | null>(null)
  const isPaused = () => props.trigger.status === 'paused'
  const params = () => ({ triggerId: props.trigger.id })
  const toggle = async () => {
    await (isPaused() ? resume : pause).run({ params: params() }).catch(toastError)
  }
  const rotateNow = async () => {
    const { trigger, url } = await rotate.run({ params: params() })
    keepFreshAddress({ triggerId: trigger.id, url, sample: sampleFor(trigger.taskTemplate), isReplacement: true })
  }
  return (
    <>
      <PageHeader
        title={
          <span class="flex min-w-0 items-center gap-x-2.5 max-sm:flex-wrap">
            <span class="truncate max-sm:whitespace-normal">{props.trigger.name}</span>
            <Pill tone={isPaused() ? 'plain' : 'ok'}>{isPaused() ? t('automations.paused') : t('automations.active')}</Pill>
          </span>
        }
        actions={
          <>
            <Button icon={isPaused() ? Play : Pause} busy={pause.isRunning || resume.isRunning} onClick={() => void toggle()}>
              {isPaused() ? t('automations.resume') : t('automations.pause')}
            </Button>
            <Menu
              label={t('common.more')}
              items={[
                { label: t('automations.webhook.rotate'), icon: KeyRound, onSelect: () => setAsking('rotate') },
                {
                  label: t('automations.duplicate'),
                  icon: CopyPlus,
                  onSelect: () => navigate(`/automations/webhooks/new?from=${props.trigger.id}`),
                },
                'separator',
                { label: t('automations.webhook.delete'), icon: Trash, tone: 'bad', onSelect: () => setAsking('delete') },
              ]}
            />
          </>
        }
      />
      <ConfirmDialog
        open={asking() === 'rotate'}
        onClose={() => setAsking(null)}
        title={t('automations.webhook.rotateTitle', { name: props.trigger.name })}
        confirm={t('automations.webhook.rotateNow')}
        onConfirm={rotateNow}
        describeError={sentenceOf}
      >
        {t('automations.webhook.rotateText')}
      </ConfirmDialog>
      <DeleteDialog
        from="webhooks"
        name={props.trigger.name}
        open={asking() === 'delete'}
        onClose={() => setAsking(null)}
        remove={() => remove.run({ params: params() }).then(forgetFreshAddress)}
      />
    </>
  )
}

function TriggerFacts(props: { trigger: Trigger }): JSX.Element {
  const isFull = () => props.trigger.firesThisHour >= FIRES_PER_HOUR
  const hour = () =>
    t('automations.webhook.thisHourOf', {
      count: countText(props.trigger.firesThisHour, locale()),
      limit: countText(FIRES_PER_HOUR, locale()),
    })
  return (
    // The address panel says it.
    <Facts footer={<Show when={freshAddressOf(props.trigger.id) === null}>{<Reach />}</Show>}>
      <Fact name={t('automations.agent')}>
        <Show when={props.trigger.agentId} fallback={<span class="text-bad">{t('automations.noAgent')}</span>}>
          {(id) => (
            <A href={`/agents/${id()}`} class="font-medium hover:underline max-md:-my-2.5 max-md:inline-block">
              {props.trigger.agentName}
            </A>
          )}
        </Show>
      </Fact>
      <Fact
        name={t('automations.webhook.lastFire')}
        note={props.trigger.triggerCount > 0 ? t('automations.webhook.fires', { count: props.trigger.triggerCount }) : undefined}
      >
        <Show when={props.trigger.lastTriggeredAt} fallback={t('automations.webhook.never')}>
          {(at) => <Time at={at()} />}
        </Show>
      </Fact>
      <Fact
        name={t('automations.webhook.thisHour')}
        title={t('automations.webhook.thisHourWhy', { limit: countText(FIRES_PER_HOUR, locale()) })}
        note={isFull() ? t('automations.webhook.hourFull') : undefined}
      >
        <span class="flex flex-col gap-1">
          {hour()}
          <Meter
            class="max-w-32"
            label={t('automations.webhook.thisHour')}
            value={props.trigger.firesThisHour}
            max={FIRES_PER_HOUR}
            text={hour()}
            tone={isFull() ? 'warn' : 'plain'}
          />
        </span>
      </Fact>
      <Fact name={t('automations.webhook.slugFact')} note={t('automations.webhook.slugFactWhy')}>
        <code class="font-mono text-xs">/webhooks/{props.trigger.slug}/…</code>
      </Fact>
      <Fact name={t('automations.webhook.signatureFact')}>
        {props.trigger.signature === null
          ? t('automations.webhook.signatureNone')
          : t(`automations.webhook.signatureOf.${props.trigger.signature}`)}
      </Fact>
      <Fact name={t('automations.webhook.dedupeFact')}>
        {props.trigger.dedupe ? t('automations.webhook.dedupeOn') : t('automations.webhook.dedupeOff')}
      </Fact>
      <Fact name={t('automations.webhook.emptyFact')}>
        {props.trigger.requirePlaceholders ? t('automations.webhook.emptyRefused') : t('automations.webhook.emptyTaken')}
      </Fact>
      <Fact name={t('automations.schedule.notifyFact')}>
        {props.trigger.notifyOnSuccess
          ? t('automations.notify.on', { via: t(`automations.notify.viaOf.${props.trigger.notifyVia}`) })
          : t('automations.notify.off')}
      </Fact>
      <Fact name={t('automations.webhook.created')}>
        <Time at={props.trigger.createdAt} />
      </Fact>
    </Facts>
  )
}
