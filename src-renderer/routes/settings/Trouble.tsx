import { useNavigate } from '@solidjs/router'
import { createSignal, Show } from 'solid-js'
import type { DesktopApi } from '../../../src-main/contract/desktop-api.ts'
import { useMay } from '../../api/may.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
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
  const may = useMay()
  const again = async () => {
    try {
      await change.run({ body: { firstStart: 'model' } })
      navigate('/welcome')
    } catch (thrown) {
      toastError(thrown)
    }
  }
  const [isSaving, setSaving] = createSignal(false)
  const save = async (api: DesktopApi) => {
    setSaving(true)
    try {
      const file = await api.saveDiagnostics(undefined)
      if (file !== null) toast({ tone: 'ok', text: t('settings.diagnostics.saved', { file }) })
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setSaving(false)
    }
  }
  const [isCopying, setCopying] = createSignal(false)
  const copy = async (api: DesktopApi) => {
    setCopying(true)
    try {
      await api.copyDiagnostics(undefined)
      toast({ tone: 'ok', text: t('settings.diagnostics.copied') })
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setCopying(false)
    }
  }
  return (
    <Panel title={t('settings.trouble.title')} flush>
      <Show when={desktop.state()}>
        {(state) => (
          <>
            <Row id="restart" label={t('settings.trouble.restart')} hint={t('settings.trouble.restartHint')}>
              <Button size="sm" onClick={() => machine.restart(state().info.safeMode)}>
                {t('settings.trouble.restartNow')}
              </Button>
            </Row>
            <Row id="safe-mode" label={t('settings.trouble.safeMode')} hint={t('settings.trouble.safeModeHint')}>
              <Button size="sm" onClick={() => machine.restart(!state().info.safeMode)}>
                {state().info.safeMode ? t('settings.trouble.safeModeLeave') : t('settings.trouble.safeModeStart')}
              </Button>
            </Row>
          </>
        )}
      </Show>
      <Show when={desktop.api}>
        {(api) => (
          <Row id="diagnostics" label={t('settings.diagnostics.label')} hint={t('settings.diagnostics.hint')}>
            <Button size="sm" busy={isCopying()} onClick={() => void copy(api())}>
              {t('settings.diagnostics.copy')}
            </Button>
            <Button size="sm" busy={isSaving()} onClick={() => void save(api())}>
              {t('settings.diagnostics.save')}
            </Button>
          </Row>
        )}
      </Show>
      <Row id="first-start" label={t('settings.trouble.firstStart')} hint={t('settings.trouble.firstStartHint')}>
        <Button size="sm" busy={change.isRunning} disabled={!may('updateSettings')} onClick={() => void again()}>
          {t('settings.trouble.firstStartAgain')}
        </Button>
      </Row>
    </Panel>
  )
}
