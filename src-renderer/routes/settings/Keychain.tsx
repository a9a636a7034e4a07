import { createSignal, Show } from 'solid-js'
import type { VaultState } from '../../../src-main/contract/desktop-api.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { failureText } from '../../lib/failure-text.ts'
import { messageText } from '../../lib/message-text.ts'

export function Keychain(props: { vault: VaultState }) {
  const desktop = useDesktop()
  const [isRunning, setRunning] = createSignal(false)
  const recheck = async () => {
    setRunning(true)
    try {
      await desktop.api?.recheckVault(undefined)
    } catch (thrown) {
      toast({ tone: 'bad', text: failureText(thrown) })
    } finally {
      setRunning(false)
    }
  }
  const isOk = () => props.vault.state === 'ok'
  return (
    <Panel title={t('settings.keys.title')} flush>
      <Row
        id="keychain"
        label={props.vault.kind === 'keychain' ? t('settings.keys.keychain') : t('settings.keys.file')}
        hint={isOk() ? (props.vault.kind === 'file' ? t('settings.keys.fileHint') : undefined) : messageText(props.vault.message)}
      >
        <Pill tone={isOk() ? 'ok' : 'bad'}>{t(`settings.keys.states.${props.vault.state}`)}</Pill>
        <Show when={!isOk()}>
          <Button size="sm" busy={isRunning()} onClick={() => void recheck()}>
            {t('settings.keys.recheck')}
          </Button>
        </Show>
      </Row>
    </Panel>
  )
}
