import { useNavigate } from '@solidjs/router'
import { Show } from 'solid-js'
import { useUpdateSettings } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { useMachine } from './machine.ts'

export function Trouble() {
  const desktop = useDesktop()
  const machine = useMachine()
  const navigate = useNavigate()
  const change = useUpdateSettings()
  const text = () => words().settings.trouble
  const again = async () => {
    try {
      await change.run({ body: { firstStart: 'model' } })
      navigate('/welcome')
    } catch (thrown) {
      toast({ tone: 'bad', text: sentenceOf(thrown) })
    }
  }
  return (
    <Panel title={text().title} flush>
      <Show when={desktop.state()}>
        {(state) => (
          <>
            <Row id="restart" label={text().restart} hint={text().restartHint}>
              <Button size="sm" onClick={() => machine.restart(state().info.safeMode)}>
                {text().restartNow}
              </Button>
            </Row>
            <Row id="safe-mode" label={text().safeMode} hint={text().safeModeHint}>
              <Button size="sm" onClick={() => machine.restart(!state().info.safeMode)}>
                {state().info.safeMode ? text().safeModeLeave : text().safeModeStart}
              </Button>
            </Row>
          </>
        )}
      </Show>
      <Row id="first-start" label={text().firstStart} hint={text().firstStartHint}>
        <Button size="sm" busy={change.isRunning} onClick={() => void again()}>
          {text().firstStartAgain}
        </Button>
      </Row>
    </Panel>
  )
}
