import { createSignal, For, Show } from 'solid-js'
import type { Sharing as SharingState } from '../../../src-main/contract/desktop-api.ts'
import { locale, t } from '../../lib/language.ts'
import { dayText } from '../../lib/time.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { failureText } from '../../lib/failure-text.ts'
import { messageText } from '../../lib/message-text.ts'

/** "Share on this network": the switch, and while it is on, the addresses for other devices. */
export function Sharing(props: { sharing: SharingState }) {
  const desktop = useDesktop()
  const [needsOwner, setNeedsOwner] = createSignal(false)
  const [isChanging, setChanging] = createSignal(false)
  // On Linux the two servers refuse the other accounts of the computer. No other system tells whose program connects.
  const isOpenToOtherAccounts = () =>
    ['darwin', 'win32'].includes(desktop.state()?.info.platform ?? '') && !props.sharing.isOn && props.sharing.fixedBy !== 'AUTH_MODE'
  const call = async (act: Promise<unknown> | undefined) => {
    setChanging(true)
    try {
      await act
    } catch (thrown) {
      toast({ tone: 'bad', text: failureText(thrown) })
    } finally {
      setChanging(false)
    }
  }
  return (
    <Panel title={t('settings.sharing.title')} flush>
      <RowFrame id="share">
        <Switch
          label={t('settings.sharing.share')}
          hint={
            props.sharing.fixedBy === null
              ? t('settings.sharing.shareHint')
              : t('settings.sharing.fixed', { variable: props.sharing.fixedBy })
          }
          checked={props.sharing.isOn}
          disabled={props.sharing.fixedBy !== null || isChanging()}
          onChecked={(on) => void call(desktop.api?.share({ on }).then((result) => setNeedsOwner(result === 'needs_owner')))}
        />
      </RowFrame>
      <Show when={isOpenToOtherAccounts()}>
        <Row id="other-accounts" label={t('settings.sharing.otherAccounts')} hint={t('settings.sharing.otherAccountsHint')} />
      </Show>
      <Show when={needsOwner() && !props.sharing.isOn}>
        <Row label={t('settings.sharing.needsOwner')} hint={t('settings.sharing.needsOwnerHint')}>
          <ButtonLink size="sm" href="/settings/people">
            {t('settings.sharing.createOwner')}
          </ButtonLink>
        </Row>
      </Show>
      <Show when={props.sharing.problem}>
        {(problem) => (
          <Row
            label={t(props.sharing.isOn ? 'settings.sharing.runnerProblem' : 'settings.sharing.notShared')}
            hint={<span class="text-bad">{messageText(problem())}</span>}
          />
        )}
      </Show>
      <Show when={props.sharing.fixedBy === null}>
        <RowFrame id="encrypt">
          <Switch
            label={t('settings.sharing.encrypt')}
            hint={t('settings.sharing.encryptHint')}
            checked={props.sharing.isEncrypted}
            disabled={isChanging()}
            onChecked={(on) => void call(desktop.api?.encryptSharing({ on }))}
          />
        </RowFrame>
      </Show>
      <Show when={props.sharing.urls.length > 0}>
        <Row
          id="share-address"
          label={t('settings.sharing.addresses')}
          hint={[t('settings.sharing.addressesHint'), ...(props.sharing.isEncrypted ? [] : [t('settings.sharing.plainHint')])].join(' ')}
        >
          <div class="flex flex-wrap items-center gap-4">
            <ul class="flex flex-col gap-1.5">
              <For each={props.sharing.urls}>
                {(url) => (
                  <li class="flex items-center gap-2">
                    <code class="font-mono text-xs">{url}</code>
                    <CopyButton size="sm" text={url} copy={desktop.copyText} />
                  </li>
                )}
              </For>
            </ul>
            <QrCode text={props.sharing.urls[0]!} label={t('settings.sharing.code', { address: props.sharing.urls[0]! })} />
          </div>
        </Row>
      </Show>
      <Show when={props.sharing.certificate}>
        {(certificate) => (
          <CertificateRow
            certificate={certificate()}
            isChanging={isChanging()}
            onReplace={() => void call(desktop.api?.replaceCertificate(undefined))}
          />
        )}
      </Show>
    </Panel>
  )
}

/** The fingerprint in four lines of eight pairs, to compare with the one that a phone shows. */
function CertificateRow(props: { certificate: NonNullable<SharingState['certificate']>; isChanging: boolean; onReplace: () => void }) {
  const desktop = useDesktop()
  const lines = () =>
    props.certificate.fingerprint
      .split(':')
      .join(' ')
      .match(/.{1,24}/g) ?? []
  const until = () => dayText(props.certificate.validUntil, locale())
  return (
    <Row
      id="certificate"
      label={t('settings.sharing.fingerprint')}
      hint={
        <>
          {t('settings.sharing.fingerprintHint', { date: until() })}
          <Show when={props.certificate.replacesDamaged}>
            <p class="mt-1 text-warn">{t('settings.sharing.replacesDamaged')}</p>
          </Show>
        </>
      }
    >
      <code class="flex flex-col font-mono text-xs whitespace-pre">
        <For each={lines()}>{(line) => <span>{line}</span>}</For>
      </code>
      <CopyButton size="sm" text={props.certificate.fingerprint} copy={desktop.copyText} />
      <Button size="sm" busy={props.isChanging} onClick={() => props.onReplace()}>
        {t('settings.sharing.replaceCertificate')}
      </Button>
    </Row>
  )
}
