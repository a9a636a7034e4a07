import { Show } from 'solid-js'
import type { DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { useMachine } from './machine.ts'
import { Path } from './Path.tsx'

export function DataAndLogs(props: { state: DesktopState }) {
  const machine = useMachine()
  return (
    <Panel title={t('settings.data.title')} flush>
      <Row
        id="data-dir"
        label={t('settings.data.dataDir')}
        hint={
          <>
            {t('settings.data.dataDirHint')}
            <Show when={props.state.info.dataDirProblem}>{(problem) => <p class="text-bad">{messageText(problem())}</p>}</Show>
          </>
        }
      >
        <Path path={props.state.info.dataDir} />
        <Button size="sm" onClick={() => machine.show('data')}>
          {t('settings.data.show')}
        </Button>
      </Row>
      <Row id="logs-dir" label={t('settings.data.logsDir')}>
        <Path path={props.state.info.logsDir} />
        <Button size="sm" onClick={() => machine.show('logs')}>
          {t('settings.data.show')}
        </Button>
      </Row>
      <Row id="log-level" label={t('settings.data.logLevel')}>
        <Select
          label={t('settings.data.logLevel')}
          hideLabel
          class="w-36"
          options={(['error', 'warn', 'info', 'debug'] as const).map((value) => ({ value, label: t(`settings.data.logLevels.${value}`) }))}
          value={props.state.settings.logLevel}
          onValue={(logLevel) => machine.change({ logLevel })}
        />
      </Row>
    </Panel>
  )
}
