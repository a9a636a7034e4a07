import { Show } from 'solid-js'
import { LANGUAGES } from '../../../resources/locales/texts.ts'
import { changeLanguage, languageName, languageSetting, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { useMachine } from './machine.ts'

export function General() {
  const desktop = useDesktop()
  const machine = useMachine()
  return (
    <Panel title={t('settings.general.title')} flush>
      <Row id="theme" label={t('settings.general.theme')}>
        <SegmentedControl
          label={t('settings.general.theme')}
          options={(['system', 'light', 'dark'] as const).map((value) => ({ value, label: t(`settings.general.themes.${value}`) }))}
          value={desktop.theme()}
          onValue={desktop.changeTheme}
        />
      </Row>
      <Row id="language" label={t('settings.general.language')}>
        <SegmentedControl
          label={t('settings.general.language')}
          options={[
            { value: 'system', label: t('settings.general.systemLanguage') },
            ...LANGUAGES.map((value) => ({ value, label: languageName(value) })),
          ]}
          value={languageSetting()}
          onValue={changeLanguage}
        />
      </Row>
      <Show when={desktop.state()}>
        {(state) => (
          <>
            <RowFrame id="start-at-login">
              <Switch
                label={t('settings.general.startAtLogin')}
                hint={t('settings.general.startAtLoginHint')}
                checked={state().settings.startAtLogin}
                onChecked={(startAtLogin) => machine.change({ startAtLogin })}
              />
            </RowFrame>
            <RowFrame id="close-to-tray">
              <Switch
                label={t('settings.general.closeToTray')}
                hint={t('settings.general.closeToTrayHint')}
                checked={state().settings.closeToTray}
                onChecked={(closeToTray) => machine.change({ closeToTray })}
              />
            </RowFrame>
          </>
        )}
      </Show>
    </Panel>
  )
}
