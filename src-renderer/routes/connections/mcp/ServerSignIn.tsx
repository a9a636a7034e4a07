import KeyRound from 'lucide-solid/icons/key-round'
import { createSignal, type JSX, Show } from 'solid-js'
import type { McpServer } from '../../../../src-runner/contract/mcp.ts'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../../api/problem.ts'
import { toastError } from '../../../api/toast-error.ts'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { useDesktop } from '../../../platform/DesktopProvider.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Fold } from '../../../ui/Fold.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { SignInDialog } from '../SignInDialog.tsx'

/** A remote server that wants somebody to sign in: the browser opens, and the page says how it ended. */
export function ServerSignIn(props: { server: McpServer }): JSX.Element {
  const desktop = useDesktop()
  const prepare = useAction('signInToMcpServer')
  const may = useMay()
  const [clientId, setClientId] = createSignal('')
  const [clientSecret, setClientSecret] = createSignal('')
  const [authorizationId, setAuthorizationId] = createSignal<string | null>(null)
  const start = async () => {
    setAuthorizationId(null)
    // Deckhand registers there by itself, unless the person has a client ID.
    const client = {
      ...(clientId().trim() !== '' && { clientId: clientId().trim() }),
      ...(clientSecret().trim() !== '' && { clientSecret: clientSecret().trim() }),
    }
    try {
      const { authorization } = await prepare.run({ params: { mcpServerId: props.server.id }, body: client })
      setAuthorizationId(authorization.id)
      await desktop.openSignIn(authorization.id).catch(toastError)
    } catch {
      // Shown under the button.
    }
  }
  return (
    <>
      <Show when={may('signInToMcpServer') && props.server.status === 'needs_sign_in'}>
        <div class="rounded-lg bg-warn-soft px-4 py-3">
          <div class="flex flex-wrap items-center gap-x-3 gap-y-2">
            <p class="min-w-60 flex-1 text-sm text-ink">{t('connections.mcp.needsSignIn')}</p>
            <Button size="sm" variant="primary" icon={KeyRound} busy={prepare.isRunning} onClick={() => void start()}>
              {t('connections.connect.signIn')}
            </Button>
          </div>
          <Show when={prepare.error}>
            {(thrown) => (
              <p role="alert" class="mt-1 text-sm wrap-anywhere text-bad">
                {sentenceOf(thrown())}
              </p>
            )}
          </Show>
          <Fold label={t('connections.connect.otherClient')}>
            <div class="grid gap-3 pt-2 sm:grid-cols-2">
              <TextField
                label={t('connections.connect.clientId')}
                mono
                value={clientId()}
                onValue={setClientId}
                problem={issueOf(prepare.error, 'clientId')}
              />
              <TextField
                label={t('connections.connect.clientSecret')}
                optional
                type="password"
                data-1p-ignore=""
                mono
                value={clientSecret()}
                onValue={setClientSecret}
                problem={issueOf(prepare.error, 'clientSecret')}
              />
            </div>
          </Fold>
        </div>
      </Show>
      <Show when={authorizationId()}>
        {(id) => (
          <SignInDialog
            authorizationId={id()}
            service={visibleText(props.server.name)}
            onDone={() => setAuthorizationId(null)}
            onAgain={() => void start()}
            onClose={() => setAuthorizationId(null)}
          />
        )}
      </Show>
    </>
  )
}
