import { createMemo, type JSX, Match, Show, Switch as Choose } from 'solid-js'
import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import type { UpdateAction, UpdateOffer, UpdateState } from '../../../src-main/contract/updates.ts'
import { bytesText, countText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { dayTime } from '../../lib/time.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { useMachine } from './machine.ts'

export function Updates(props: { state: DesktopState }) {
  const machine = useMachine()
  const updates = () => props.state.updates
  const settings = () => props.state.settings
  return (
    <Panel title={t('settings.updates.title')} flush>
      <Row id="updates" label={label(updates())} hint={<Hint updates={updates()} />}>
        <Buttons updates={updates()} />
      </Row>
      <Show when={offerOf(updates())?.notes}>
        {(notes) => (
          <RowFrame id="update-changes">
            <div class="text-sm text-ink">{t('settings.updates.changes')}</div>
            <p class="mt-1 max-h-60 overflow-y-auto text-xs whitespace-pre-wrap text-ink-2 wrap-anywhere" tabIndex={0}>
              {notes()}
            </p>
          </RowFrame>
        )}
      </Show>
      <Show when={updates().state !== 'off'}>
        <Row id="update-mode" label={t('settings.updates.mode')} hint={t('settings.updates.modeHint')}>
          <SegmentedControl
            label={t('settings.updates.mode')}
            options={(['automatic', 'ask', 'off'] as const).map((value) => ({ value, label: t(`settings.updates.modes.${value}`) }))}
            value={settings().updateMode}
            onValue={(updateMode) => machine.change({ updateMode })}
          />
        </Row>
        <RowFrame id="update-on-quit">
          <Switch
            label={t('settings.updates.onQuit')}
            hint={t('settings.updates.onQuitHint')}
            checked={settings().updateOnQuit}
            onChecked={(updateOnQuit) => machine.change({ updateOnQuit })}
          />
        </RowFrame>
        <Row id="update-channel" label={t('settings.updates.channel')} hint={t('settings.updates.channelHint')}>
          <SegmentedControl
            label={t('settings.updates.channel')}
            options={(['stable', 'beta'] as const).map((value) => ({ value, label: t(`settings.updates.channels.${value}`) }))}
            value={settings().updateChannel}
            onValue={(updateChannel) => machine.change({ updateChannel })}
          />
        </Row>
      </Show>
    </Panel>
  )
}

function offerOf(updates: UpdateState): UpdateOffer | null {
  return 'offer' in updates ? updates.offer : null
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
  const machine = useMachine()
  return (
    <Button size="sm" onClick={() => machine.update(props.action)}>
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
