import { Show } from 'solid-js'
import { words } from '../../kit/words/words.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { About } from './About.tsx'
import { Addresses } from './Addresses.tsx'
import { AgentTools } from './AgentTools.tsx'
import { DataAndLogs } from './DataAndLogs.tsx'
import { Doctor } from './Doctor.tsx'
import { General } from './General.tsx'
import { JobSettings } from './JobSettings.tsx'
import { Keychain } from './Keychain.tsx'
import { Notifications } from './Notifications.tsx'
import { OutsideWebhooks } from './OutsideWebhooks.tsx'
import { Trouble } from './Trouble.tsx'
import { useNamedPart } from './use-named-part.ts'

/** The machine: what is not part of any agent. In a browser the machine's own part is the app's. */
export function SettingsScreen() {
  const desktop = useDesktop()
  let parts!: HTMLDivElement
  useNamedPart(() => parts)
  return (
    <Screen width="narrow">
      <PageHeader title={words().settings.title} />
      <div
        ref={(element) => {
          parts = element
        }}
        class="flex flex-col gap-6"
      >
        <General />
        <JobSettings />
        <Notifications />
        <AgentTools />
        <OutsideWebhooks />
        <Show
          when={desktop.inApp}
          fallback={
            <Panel title={words().settings.computer} flush>
              <Row label={words().common.availableInApp} hint={words().settings.computerWhy} />
            </Panel>
          }
        >
          <Show when={desktop.state()}>
            {(state) => (
              <>
                <Addresses state={state()} />
                <Keychain vault={state().vault} />
                <DataAndLogs state={state()} />
              </>
            )}
          </Show>
        </Show>
        <Doctor />
        <Trouble />
        <About />
      </div>
    </Screen>
  )
}
