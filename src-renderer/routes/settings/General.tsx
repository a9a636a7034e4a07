import { Show } from 'solid-js'
import { changeLanguage, languageSetting, words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { useMachine } from './machine.ts'

export function General() {
  const desktop = useDesktop()
  const machine = useMachine()
  const text = () => words().settings.general
  return (
    <Panel title={text().title} flush>
      <Row id="theme" label={text().theme}>
        <SegmentedControl
          label={text().theme}
          options={(['system', 'light', 'dark'] as const).map((value) => ({ value, label: text().themes[value] }))}
          value={desktop.theme()}
          onValue={desktop.changeTheme}
        />
      </Row>
      <Row id="language" label={text().language}>
        <SegmentedControl
          label={text().language}
          options={(['system', 'en', 'de'] as const).map((value) => ({ value, label: text().languages[value] }))}
          value={languageSetting()}
          onValue={changeLanguage}
        />
      </Row>
      <Show when={desktop.state()}>
        {(state) => (
          <>
            <RowFrame id="start-at-login">
              <Switch
                label={text().startAtLogin}
                hint={text().startAtLoginHint}
                checked={state().settings.startAtLogin}
                onChecked={(startAtLogin) => machine.change({ startAtLogin })}
              />
            </RowFrame>
            <RowFrame id="close-to-tray">
              <Switch
                label={text().closeToTray}
                hint={text().closeToTrayHint}
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
