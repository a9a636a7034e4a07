import { For, Show } from 'solid-js'
import type { Device } from '../../../src-main/contract/auth-api.ts'
import { useAction } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useDevices } from '../../api/queries.ts'
import { useSession } from '../../api/SessionProvider.tsx'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Time } from '../../ui/Time.tsx'

/** Signed-in browsers, each with a button that signs it out. */
export function Devices(props: { withNames: boolean }) {
  const session = useSession()
  const devices = useDevices()
  const desktop = useDesktop()
  // Without it, nobody can reach Deckhand to sign in.
  const canBeShared = () => {
    const sharing = desktop.state()?.sharing
    return sharing !== undefined && !sharing.isOn && sharing.fixedBy === null
  }
  const signOut = useAction('signOutDevice')
  const nameOf = ({ browser, system }: Device) =>
    browser === null && system === null ? t('settings.people.unknownDevice') : [browser, system].filter((part) => part !== null).join(' · ')
  const labelOf = (device: Device) =>
    props.withNames ? t('settings.people.deviceOf', { device: nameOf(device), name: device.personName }) : nameOf(device)
  const end = (device: Device) =>
    signOut.run({ params: { deviceId: device.id } }).then(() => (device.isThis ? void session?.refresh() : devices.retry()), toastError)
  return (
    <Panel title={t('settings.people.devices')} description={t('settings.people.devicesHint')} flush>
      <div id="devices" class="outline-none" />
      <For
        each={devices.data?.devices}
        fallback={
          <Show when={devices.data}>
            <Row label={t('settings.people.noDevices')} hint={canBeShared() ? t('settings.people.notShared') : undefined}>
              <Show when={canBeShared()}>
                <ButtonLink size="sm" href="/settings/computer#share">
                  {t('settings.people.openSharing')}
                </ButtonLink>
              </Show>
            </Row>
          </Show>
        }
      >
        {(device) => (
          <Row
            label={labelOf(device)}
            hint={
              <>
                <Show when={device.isThis} fallback={<Time at={device.lastSeenAt} />}>
                  {t('settings.people.thisDevice')}
                </Show>
                <Show when={device.address}>{(address) => ` · ${address()}`}</Show>
              </>
            }
          >
            <Button size="sm" onClick={() => void end(device)} aria-label={t('settings.people.signOutNamed', { device: labelOf(device) })}>
              {t('signIn.signOut')}
            </Button>
          </Row>
        )}
      </For>
      <Show when={devices.error}>
        <div class="p-4">
          <ErrorState compact problem={problemOf(devices.error)} onRetry={devices.retry} />
        </div>
      </Show>
    </Panel>
  )
}
