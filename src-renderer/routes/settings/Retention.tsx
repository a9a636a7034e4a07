import { createSignal, For, Show } from 'solid-js'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { RetentionKind, type Amount } from '../../../src-runner/contract/retention.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { useMay } from '../../api/may.ts'
import { useAction, useUpdateSettings } from '../../api/mutations.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { useRetained, useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { locale, t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'

const CHOICES = [7, 30, 90, 180, 365, 730]
const FOREVER = 'forever'

/** How long data is kept, how much there is of it, and what a shorter time would delete. */
export function Retention() {
  const settings = useSettings()
  return (
    <Panel title={t('settings.retention.title')} description={t('settings.retention.about')} flush>
      <Show
        when={settings.data?.settings.retention}
        fallback={
          <Show when={settings.error}>
            <div class="p-4">
              <ErrorState compact problem={problemOf(settings.error)} onRetry={settings.retry} />
            </div>
          </Show>
        }
      >
        {(retention) => (
          <For each={RetentionKind.options}>{(kind) => <KindRow kind={kind} days={retention()[kind]} all={retention()} />}</For>
        )}
      </Show>
    </Panel>
  )
}

type Offer = { days: number; due: Amount; isNew: boolean }

function KindRow(props: { kind: RetentionKind; days: number | null; all: Record<RetentionKind, number | null> }) {
  const { client } = useApi()
  const change = useUpdateSettings()
  const deleteDue = useAction('deleteDue')
  const may = useMay()
  const retained = useRetained(() => (may('getRetained') ? { kind: props.kind, days: props.days } : null))
  const [offer, setOffer] = createSignal<Offer | null>(null)
  const [isAsking, setAsking] = createSignal(false)
  const save = (days: number | null) => change.run({ body: { retention: { ...props.all, [props.kind]: days } } })

  /** A shorter time deletes something, so it asks first and says what. */
  async function choose(value: string): Promise<void> {
    const days = value === FOREVER ? null : Number(value)
    if (days === null || (props.days !== null && days >= props.days)) return void save(days).catch(toastError)
    setAsking(true)
    try {
      const { due } = await client.call('getRetained', { query: { kind: props.kind, days } })
      setOffer({ days, due, isNew: true })
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setAsking(false)
    }
  }

  async function confirm(): Promise<void> {
    const { days, isNew } = offer()!
    if (isNew) await save(days)
    else await deleteDue.run({ body: { kind: props.kind } })
  }

  const due = () => retained.data?.due
  return (
    <Row
      id={`keep-${props.kind}`}
      label={t(`settings.retention.kinds.${props.kind}`)}
      hint={
        <>
          <div>{t(`settings.retention.hints.${props.kind}`)}</div>
          <Show when={retained.data}>
            {(data) => (
              <div class="tabular-nums">
                {t('settings.retention.takes', { size: sizeOf(props.kind, data().all) })}
                <Show when={props.days !== null && data().due.count > 0}>
                  {' · '}
                  {t('settings.retention.due', { count: data().due.count, size: sizeOf(props.kind, data().due) })}
                </Show>
              </div>
            )}
          </Show>
        </>
      }
    >
      <Show when={props.days !== null && (due()?.count ?? 0) > 0}>
        <Button
          size="sm"
          busy={retained.data?.isDeleting === true || deleteDue.isRunning}
          onClick={() => setOffer({ days: props.days!, due: due()!, isNew: false })}
        >
          {retained.data?.isDeleting === true ? t('settings.retention.deleting') : t('settings.retention.deleteNow')}
        </Button>
      </Show>
      <Select
        label={t(`settings.retention.kinds.${props.kind}`)}
        hideLabel
        class="w-32"
        disabled={isAsking() || change.isRunning || !may('updateSettings')}
        options={optionsWith(props.days)}
        value={props.days === null ? FOREVER : String(props.days)}
        onValue={(value) => void choose(value)}
      />
      <ConfirmDialog
        open={offer() !== null}
        onClose={() => setOffer(null)}
        title={offer() === null ? '' : titleOf(offer()!)}
        confirm={
          offer()?.isNew === true ? t('settings.retention.set', { time: daysText(offer()!.days) }) : t('settings.retention.deleteNow')
        }
        tone={(offer()?.due.count ?? 0) > 0 ? 'bad' : 'plain'}
        onConfirm={confirm}
        describeError={sentenceOf}
      >
        <p>{t(`settings.retention.kinds.${props.kind}`)}</p>
        <Show when={offer()}>
          {(found) => (
            <p class="mt-1">
              {found().due.count === 0
                ? t('settings.retention.nothing')
                : t('settings.retention.lost', { count: found().due.count, size: sizeOf(props.kind, found().due) })}
            </p>
          )}
        </Show>
      </ConfirmDialog>
    </Row>
  )
}

function titleOf({ days, isNew }: Offer): string {
  return t(isNew ? 'settings.retention.ask' : 'settings.retention.askNow', { time: daysText(days) })
}

function daysText(days: number): string {
  return t('settings.retention.days', { days })
}

/** The size of database rows is an estimate. */
function sizeOf(kind: RetentionKind, { bytes }: Amount): string {
  const size = bytesText(bytes, locale())
  return bytes === 0 || kind === 'contents' || kind === 'logs' ? size : t('settings.retention.aboutSize', { size })
}

function optionsWith(days: number | null) {
  const all = days === null || CHOICES.includes(days) ? CHOICES : [...CHOICES, days].toSorted((a, b) => a - b)
  return [...all.map((one) => ({ value: String(one), label: daysText(one) })), { value: FOREVER, label: t('settings.retention.forever') }]
}
