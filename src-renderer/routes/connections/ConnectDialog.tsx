import { useNavigate } from '@solidjs/router'
import { createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { ListedConnector } from '../../../src-runner/contract/connectors.ts'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import { t } from '../../lib/language.ts'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { newName } from './connection.ts'
import { KeyForm } from './KeyForm.tsx'
import { createOAuthDraft, OAuthForm } from './OAuthForm.tsx'
import { SignInDialog } from './SignInDialog.tsx'

/** Connects an account. With `existing`, that account signs in again. */
export function ConnectDialog(props: {
  connector: ListedConnector
  agents: readonly Agent[]
  agentId?: string | undefined
  existing?: Credential | undefined
  onClose: () => void
}): JSX.Element {
  const navigate = useNavigate()
  // Kept while the browser is open, so that nothing must be typed again after a failure.
  const draft = createOAuthDraft(props)
  const [authorizationId, setAuthorizationId] = createSignal<string | null>(null)
  const service = () => props.existing?.name ?? newName(props.connector, draft.fields)
  const show = (credentialId: string | null, name: string) => {
    props.onClose()
    toast({ text: t('connections.connect.done', { service: name }) })
    if (props.existing === undefined && credentialId !== null) navigate(`/connections/${credentialId}`)
  }
  // A token needs no app of one's own at the service, so it comes first where a service has both.
  const hasBoth = () => props.existing === undefined && props.connector.kind === 'oauth2' && props.connector.keyHeader !== null
  const [byKey, setByKey] = createSignal(hasBoth() || (props.existing ?? props.connector).kind !== 'oauth2')
  const ways = () => (
    <Show when={hasBoth()}>
      <SegmentedControl
        label={t('connections.connect.way')}
        options={[
          { value: 'key', label: t('connections.connect.wayKey') },
          { value: 'oauth', label: t('connections.connect.wayOAuth') },
        ]}
        value={byKey() ? 'key' : 'oauth'}
        onValue={(way) => setByKey(way === 'key')}
      />
      <p class="text-xs text-ink-3">
        {t(byKey() ? 'connections.connect.wayKeyWhy' : 'connections.connect.wayOAuthWhy', { service: props.connector.name })}
      </p>
    </Show>
  )
  return (
    <Switch>
      <Match when={byKey()}>
        <KeyForm
          existing={props.existing}
          connector={props.connector}
          agents={props.agents}
          agentId={props.agentId}
          onDone={show}
          onClose={props.onClose}
          ways={ways()}
        />
      </Match>
      <Match when={authorizationId()}>
        {(id) => (
          <SignInDialog
            authorizationId={id()}
            service={service()}
            onDone={(credentialId) => show(credentialId, service())}
            onAgain={() => setAuthorizationId(null)}
            onClose={props.onClose}
          />
        )}
      </Match>
      <Match when={true}>
        <OAuthForm
          draft={draft}
          connector={props.connector}
          agents={props.agents}
          existing={props.existing}
          onStarted={setAuthorizationId}
          onClose={props.onClose}
          ways={ways()}
        />
      </Match>
    </Switch>
  )
}
