import { Show } from 'solid-js'
import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import type { UpdateOffer, UpdateState } from '../../../src-main/contract/updates.ts'
import { UpdateRow } from '../../features/updates/UpdateRow.tsx'
import { t } from '../../lib/language.ts'
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
      <UpdateRow updates={updates()} />
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
