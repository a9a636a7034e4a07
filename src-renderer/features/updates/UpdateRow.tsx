import { createMemo, type JSX, Match, Show, Switch as Choose } from 'solid-js'
import type { UpdateAction, UpdateOffer, UpdateState } from '../../../src-main/contract/updates.ts'
import { bytesText, countText } from '../../../resources/locales/numbers.ts'
import { failureText } from '../../lib/failure-text.ts'
import { locale, t } from '../../lib/language.ts'
import { dayTime } from '../../lib/time.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Row } from '../../ui/Row.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** How far the next version is on its way, and what the person can do about it. */
export function UpdateRow(props: { updates: UpdateState }) {
  return (
    <Row id="updates" label={label(props.updates)} hint={<Hint updates={props.updates} />}>
      <Buttons updates={props.updates} />
    </Row>
  )
}

function label(updates: UpdateState): string {
  switch (updates.state) {
    case 'off':
      return t(`settings.updates.state.${updates.reason}`)
    case 'idle':
      return updates.checkedAt === null ? t('settings.updates.state.unchecked') : t('settings.updates.state.current')
    case 'checking':
    case 'failed':
      return t(`settings.updates.state.${updates.state}`)
    default:
      return t(`settings.updates.state.${updates.state}`, { version: updates.offer.version })
  }
}

function Hint(props: { updates: UpdateState }): JSX.Element {
  const percent = createMemo(() => (props.updates.state === 'downloading' ? props.updates.percent : null))
  return (
    <Choose>
      <Match when={props.updates.state === 'off' && props.updates.reason === 'no_source'}>{t('settings.updates.noSourceHint')}</Match>
      <Match when={props.updates.state === 'idle' && props.updates.checkedAt}>
        {(at) => t('settings.updates.checked', { when: dayTime(at(), locale()) })}
      </Match>
      <Match when={props.updates.state === 'failed' && props.updates.code}>{(code) => t(`settings.updates.problems.${code()}`)}</Match>
      <Match when={props.updates.state === 'available' && props.updates.offer}>{(offer) => <Available offer={offer()} />}</Match>
      <Match when={props.updates.state === 'downloading' && props.updates.offer}>
        {(offer) => <Progress percent={percent() ?? 0} bytes={offer().bytes} />}
      </Match>
      <Match when={props.updates.state === 'downloaded'}>{t('settings.updates.backupFirst')}</Match>
    </Choose>
  )
}

function Available(props: { offer: UpdateOffer }) {
  return (
    <>
      <Show when={props.offer.crashed}>
        <div class="text-warn">{t('settings.updates.crashed')}</div>
      </Show>
      <Show when={props.offer.kind === 'app' ? null : props.offer.kind} fallback={bytesText(props.offer.bytes, locale())}>
        {(kind) => <span class="wrap-anywhere">{t(`settings.updates.manual.${kind()}`, { file: props.offer.file })}</span>}
      </Show>
    </>
  )
}

function Progress(props: { percent: number; bytes: number }) {
  const text = () =>
    t('settings.updates.progress', { percent: `${countText(props.percent, locale())} %`, size: bytesText(props.bytes, locale()) })
  return (
    <div class="max-w-64">
      {text()}
      <Meter class="mt-1.5" label={t('settings.updates.title')} value={props.percent} max={100} text={text()} />
    </div>
  )
}

function Do(props: { action: UpdateAction; children: string }) {
  const desktop = useDesktop()
  const act = () => void desktop.api?.update(props.action).catch((thrown: unknown) => toast({ tone: 'bad', text: failureText(thrown) }))
  return (
    <Button size="sm" onClick={act}>
      {props.children}
    </Button>
  )
}

function Buttons(props: { updates: UpdateState }) {
  const desktop = useDesktop()
  const available = () => (props.updates.state === 'available' ? props.updates.offer : null)
  return (
    <Choose>
      <Match when={props.updates.state === 'idle'}>
        <Do action="check">{t('settings.updates.check')}</Do>
      </Match>
      <Match when={available()?.kind === 'app'}>
        <Do action="download">{t('settings.updates.download')}</Do>
      </Match>
      <Match when={available()?.page}>
        {(page) => (
          <Button size="sm" onClick={() => void desktop.openExternal(page())}>
            {t('settings.updates.page')}
          </Button>
        )}
      </Match>
      <Match when={props.updates.state === 'downloaded'}>
        <Do action="install">{t('settings.updates.install')}</Do>
      </Match>
      <Match when={props.updates.state === 'waiting'}>
        <Do action="later">{t('settings.updates.notNow')}</Do>
      </Match>
      <Match when={props.updates.state === 'failed'}>
        <Do action="download">{t('settings.updates.retry')}</Do>
      </Match>
    </Choose>
  )
}
