import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { words } from '../../kit/words/words.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { useMachine } from './machine.ts'

export function DataAndLogs(props: { state: DesktopState }) {
  const machine = useMachine()
  const text = () => words().settings.data
  return (
    <Panel title={text().title} flush>
      <Row id="data-dir" label={text().dataDir} hint={text().dataDirHint}>
        <Path path={props.state.info.dataDir} />
        <Button size="sm" onClick={() => machine.show('data')}>
          {text().show}
        </Button>
      </Row>
      <Row id="logs-dir" label={text().logsDir}>
        <Path path={props.state.info.logsDir} />
        <Button size="sm" onClick={() => machine.show('logs')}>
          {text().show}
        </Button>
      </Row>
      <Row id="log-level" label={text().logLevel}>
        <Select
          label={text().logLevel}
          hideLabel
          class="w-36"
          options={(['error', 'warn', 'info', 'debug'] as const).map((value) => ({ value, label: text().logLevels[value] }))}
          value={props.state.settings.logLevel}
          onValue={(logLevel) => machine.change({ logLevel })}
        />
      </Row>
    </Panel>
  )
}

function Path(props: { path: string }) {
  return (
    <code class="max-w-64 truncate font-mono text-xs text-ink-2" title={props.path} dir="rtl">
      <bdi>{props.path}</bdi>
    </code>
  )
}
