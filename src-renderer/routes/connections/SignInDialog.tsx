import CircleX from 'lucide-solid/icons/circle-x'
import ExternalLink from 'lucide-solid/icons/external-link'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { createEffect, createSignal, type JSX, Match, on, Show, Switch } from 'solid-js'
import type { Authorization } from '../../../src-runner/contract/credentials.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { useAuthorization } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { useSeconds } from '../../lib/now.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Fold } from '../../ui/Fold.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Waits for the browser, and shows by itself how the sign-in ended. */
export function SignInDialog(props: {
  authorizationId: string
  service: string
  onDone: (credentialId: string | null) => void
  onAgain: () => void
  onClose: () => void
}): JSX.Element {
  const desktop = useDesktop()
  const answer = useAuthorization(() => props.authorizationId)
  const cancel = useAction('cancelAuthorization')
  const authorization = () => answer.data?.authorization
  const isWaiting = () => (authorization()?.status ?? 'waiting') === 'waiting'
  createEffect(
    on(
      () => authorization()?.status,
      (status) => status === 'connected' && props.onDone(authorization()!.credentialId),
    ),
  )
  const close = () => {
    // If it has ended meanwhile, there is nothing to cancel.
    if (isWaiting()) void cancel.run({ params: { authorizationId: props.authorizationId } }).catch(() => undefined)
    props.onClose()
  }
  return (
    <Dialog
      open
      onClose={close}
      title={
        isWaiting()
          ? t('connections.signIn.title', { service: props.service })
          : t('connections.signIn.failedTitle', { service: props.service })
      }
      actions={
        <>
          <Button onClick={close}>{t('common.cancel')}</Button>
          <Show
            when={isWaiting()}
            fallback={
              <Button variant="primary" onClick={() => props.onAgain()}>
                {t('common.retry')}
              </Button>
            }
          >
            <Show when={authorization()}>
              {(one) => (
                <Button icon={ExternalLink} onClick={() => void openAgain(one()).catch(toastError)}>
                  {t(one().device === null ? 'connections.signIn.openAgain' : 'connections.signIn.openPage')}
                </Button>
              )}
            </Show>
          </Show>
        </>
      }
    >
      <div class="flex min-h-40 flex-col gap-4" aria-live="polite">
        <Switch>
          <Match when={!isWaiting()}>
            <div class="flex flex-1 flex-col items-center justify-center gap-3 text-center">
              <CircleX size={30} class="text-bad" aria-hidden="true" />
              <p role="alert" class="max-w-sm text-sm wrap-anywhere text-ink">
                {messageText(authorization()?.problem) || t(`connections.signIn.ended.${endedAs(authorization()?.status)}`)}
              </p>
            </div>
          </Match>
          <Match when={authorization() === undefined && answer.error}>
            <AnswerState compact answer={answer} />
          </Match>
          <Match when={authorization()?.device}>{(device) => <DeviceCode device={device()} />}</Match>
          <Match when={true}>
            <div role="status" class="flex flex-1 flex-col items-center justify-center gap-3 text-center">
              <LoaderCircle size={28} class="animate-spin text-ink-3" aria-hidden="true" />
              <p class="text-md font-medium text-ink">{t('connections.signIn.waiting')}</p>
              <p class="max-w-sm text-sm text-ink-2">{t('connections.signIn.waitingWhy', { service: props.service })}</p>
              {/* A service that knows another one refuses and does not name the one it expects. */}
              <Show when={authorization()}>
                {(one) => (
                  <p class="max-w-full text-xs text-ink-3">
                    {t('connections.connect.redirectUri')}: <code class="font-mono wrap-anywhere select-all">{one().redirectUri}</code>
                  </p>
                )}
              </Show>
            </div>
            <PastedAddress authorizationId={props.authorizationId} />
          </Match>
        </Switch>
      </div>
      <Show when={isWaiting() && authorization()}>{(one) => <TimeLeft expiresAt={one().expiresAt} />}</Show>
    </Dialog>
  )

  async function openAgain(one: Authorization) {
    if (one.device !== null) await desktop.openExternal(one.device.verificationUrl)
    else await desktop.openSignIn(one.id)
  }
}

function endedAs(status: Authorization['status'] | undefined): 'expired' | 'cancelled' | 'failed' {
  return status === 'expired' || status === 'cancelled' ? status : 'failed'
}

/** What to type at the service. */
function DeviceCode(props: { device: NonNullable<Authorization['device']> }): JSX.Element {
  const desktop = useDesktop()
  return (
    <div class="flex flex-1 flex-col items-center justify-center gap-2 text-center">
      <p class="text-sm text-ink-2">{t('connections.signIn.typeCode')}</p>
      <p class="font-mono text-sm text-ink select-all wrap-anywhere">{props.device.verificationUrl}</p>
      <div class="flex items-center gap-1">
        <span class="font-mono text-2xl font-semibold tracking-widest text-ink select-all">{props.device.userCode}</span>
        <CopyButton text={props.device.userCode} copy={desktop.copyText} />
      </div>
    </div>
  )
}

/** For a browser that cannot reach this machine, such as one on a phone: the address at which it ended brings the answer. */
function PastedAddress(props: { authorizationId: string }): JSX.Element {
  const finish = useAction('finishPastedAuthorization')
  const [address, setAddress] = createSignal('')
  const send = async () => {
    try {
      await finish.run({ params: { authorizationId: props.authorizationId }, body: { address: address().trim() } })
    } catch {
      // Shown under the field.
    }
  }
  return (
    <Fold label={t('connections.signIn.elsewhere')}>
      <form
        class="flex flex-col gap-2 pt-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (address().trim() !== '') void send()
        }}
      >
        <p class="text-xs text-ink-3">{t('connections.signIn.elsewhereWhy')}</p>
        <div class="flex items-end gap-2">
          <div class="min-w-0 flex-1">
            <TextField
              label={t('connections.signIn.address')}
              mono
              value={address()}
              onValue={setAddress}
              problem={finish.error ? sentenceOf(finish.error) : null}
            />
          </div>
          <Button type="submit" busy={finish.isRunning}>
            {t('connections.signIn.finish')}
          </Button>
        </div>
      </form>
    </Fold>
  )
}

function TimeLeft(props: { expiresAt: number }): JSX.Element {
  const now = useSeconds()
  const minutes = () => Math.max(0, Math.ceil((props.expiresAt - now()) / 60_000))
  return <p class="mt-4 text-center text-xs text-ink-3">{t('connections.signIn.timeLeft', { minutes: minutes() })}</p>
}
