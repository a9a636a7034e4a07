import { useNavigate, useParams, useSearchParams } from '@solidjs/router'
import KeyRound from 'lucide-solid/icons/key-round'
import Pencil from 'lucide-solid/icons/pencil'
import RefreshCw from 'lucide-solid/icons/refresh-cw'
import Unplug from 'lucide-solid/icons/unplug'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { Connector, ListedConnector } from '../../../src-runner/contract/connectors.ts'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useAgents, useConnectors, useCredential } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { localText, t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row } from '../../ui/Row.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { AccessPill } from './AccessPill.tsx'
import { AgentGrants } from './AgentGrants.tsx'
import { BackLink } from '../../ui/BackLink.tsx'
import { serviceName } from './connection.ts'
import { ConnectDialog } from './ConnectDialog.tsx'
import { ACCOUNT_TONES } from './ConnectedList.tsx'
import { ConnectorLogo } from './ConnectorLogo.tsx'
import { RenameDialog } from './RenameDialog.tsx'

/** `/connections/<id>`: one account. */
export function CredentialScreen(): JSX.Element {
  const params = useParams<{ credentialId: string }>()
  const answer = useCredential(() => params.credentialId)
  const connectors = useConnectors()
  const credential = () => (answer.data?.credential.id === params.credentialId ? answer.data.credential : null)
  return (
    <Screen width="narrow">
      <BackLink href="/connections">{t('connections.title')}</BackLink>
      <Show
        when={credential()}
        fallback={
          <>
            <h1 class="sr-only">{t('connections.title')}</h1>
            <AnswerState answer={answer} missing={{ title: t('connections.gone'), why: t('connections.goneWhy') }} />
          </>
        }
      >
        {(one) => <Account credential={one()} connector={connectors.data?.connectors.find(({ slug }) => slug === one().connector)} />}
      </Show>
    </Screen>
  )
}

function Account(props: { credential: Credential; connector: ListedConnector | undefined }): JSX.Element {
  const [search, setSearch] = useSearchParams<{ again?: string }>()
  const agents = useAgents()
  const change = useAction('updateCredential')
  const may = useMay()
  const params = () => ({ credentialId: props.credential.id })
  const service = () => (props.connector === undefined ? props.credential.connector : serviceName(props.connector))
  return (
    <>
      <Head credential={props.credential} connector={props.connector} onSignIn={() => setSearch({ again: '1' })} />
      <div class="flex flex-col gap-4">
        <Show when={props.credential.status === 'needs_sign_in'}>
          <div class="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg bg-warn-soft px-4 py-3">
            <p role="alert" class="min-w-60 flex-1 text-sm wrap-anywhere text-ink">
              {messageText(props.credential.problem) || t('connections.needsSignIn', { service: service() })}
            </p>
            <Show when={may('createCredential') && props.connector !== undefined}>
              <Button size="sm" icon={KeyRound} onClick={() => setSearch({ again: '1' })}>
                {t(props.credential.kind === 'oauth2' ? 'connections.signInAgain' : 'connections.newKey')}
              </Button>
            </Show>
          </div>
        </Show>
        <Panel title={t('connections.agents.title')} description={t('connections.agents.about')}>
          <AgentGrants
            agents={agents.data?.agents ?? []}
            grants={props.credential.agents}
            disabled={change.isRunning || !may('updateCredential')}
            onGrants={(grants) => void change.run({ params: params(), body: { agents: grants } }).catch(toastError)}
          />
        </Panel>
        <Scopes credential={props.credential} connector={props.connector} />
        <Details credential={props.credential} service={service()} />
      </div>
      <Show when={may('createCredential') && search.again !== undefined && agents.data && props.connector}>
        {(connector) => (
          <ConnectDialog
            connector={connector()}
            agents={agents.data!.agents}
            existing={props.credential}
            onClose={() => setSearch({ again: undefined }, { replace: true })}
          />
        )}
      </Show>
    </>
  )
}

function Head(props: { credential: Credential; connector: Connector | undefined; onSignIn: () => void }): JSX.Element {
  const navigate = useNavigate()
  const test = useAction('testCredential')
  const change = useAction('updateCredential')
  const remove = useAction('deleteCredential')
  const may = useMay()
  const [dialog, setDialog] = createSignal<'disconnect' | 'rename' | null>(null)
  const params = () => ({ credentialId: props.credential.id })
  const isOAuth = () => props.credential.kind === 'oauth2'
  const runTest = async () => {
    try {
      const { ok, message } = await test.run({ params: params() })
      toast(ok ? { text: t('connections.testOk') } : { tone: 'bad', text: messageText(message) || t('connections.testFailed') })
    } catch (thrown) {
      toastError(thrown)
    }
  }
  const disconnect = async () => {
    const { name } = props.credential
    const { revoked } = await remove.run({ params: params() })
    // Only the service can take a token back, so the person is told what it said.
    toast({
      text: t(`connections.disconnected.${revoked === null ? 'noWay' : revoked ? 'revoked' : 'notRevoked'}`, { name }),
      ...(revoked === false && { tone: 'bad' }),
    })
    navigate('/connections')
  }
  return (
    <>
      <PageHeader
        leading={<ConnectorLogo connector={props.connector} size="lg" />}
        title={visibleText(props.credential.name)}
        description={
          <span class="flex flex-wrap items-center gap-2">
            <Show when={props.credential.accountName !== props.credential.name && props.credential.accountName}>
              {(account) => <span class="wrap-anywhere">{visibleText(account())}</span>}
            </Show>
            <Pill tone={ACCOUNT_TONES[props.credential.status]}>{t(`connections.status.${props.credential.status}`)}</Pill>
          </span>
        }
        actions={
          <Show when={may('updateCredential')}>
            <Button busy={test.isRunning} onClick={() => void runTest()}>
              {t('connections.test')}
            </Button>
            <Menu
              label={t('connections.actions', { name: props.credential.name })}
              items={[
                { label: t('connections.rename'), icon: Pencil, onSelect: () => setDialog('rename') },
                ...(props.connector === undefined
                  ? []
                  : [
                      {
                        label: t(isOAuth() ? 'connections.signInAgain' : 'connections.newKey'),
                        icon: RefreshCw,
                        onSelect: () => props.onSignIn(),
                      },
                    ]),
                'separator' as const,
                { label: t('connections.disconnect'), icon: Unplug, tone: 'bad', onSelect: () => setDialog('disconnect') },
              ]}
            />
          </Show>
        }
      />
      <Show when={dialog() === 'rename'}>
        <RenameDialog
          name={props.credential.name}
          isRunning={change.isRunning}
          onSave={(name) => change.run({ params: params(), body: { name } })}
          onClose={() => setDialog(null)}
        />
      </Show>
      <ConfirmDialog
        open={dialog() === 'disconnect'}
        onClose={() => setDialog(null)}
        title={t('connections.disconnectTitle', { name: props.credential.name })}
        confirm={t('connections.disconnect')}
        tone="bad"
        onConfirm={disconnect}
        describeError={sentenceOf}
      >
        {t('connections.disconnectWhy')}
      </ConfirmDialog>
    </>
  )
}

/** What the account allows, in words where the catalogue has them. */
function Scopes(props: { credential: Credential; connector: Connector | undefined }): JSX.Element {
  const known = (scope: string) => props.connector?.scopes.find((one) => one.scope === scope)
  return (
    <Show when={props.credential.scopes.length > 0}>
      <Panel title={t('connections.scopes.granted')} flush>
        <ul class="pb-1">
          <For each={props.credential.scopes}>
            {(scope) => (
              <li class="flex items-center gap-3 border-t border-line px-4 py-2 text-sm first:border-t-0">
                <Show
                  when={known(scope)}
                  fallback={<code class="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{visibleText(scope)}</code>}
                >
                  {(one) => (
                    <>
                      <span class="min-w-0 flex-1" title={scope}>
                        {localText(one().words)}
                      </span>
                      <AccessPill access={one().access} />
                    </>
                  )}
                </Show>
              </li>
            )}
          </For>
        </ul>
      </Panel>
    </Show>
  )
}

function Details(props: { credential: Credential; service: string }): JSX.Element {
  return (
    <Panel title={t('connections.details.title')} flush>
      <Row label={t('connections.details.service')}>
        <span class="text-sm text-ink-2">{props.service}</span>
      </Row>
      <Row label={t('connections.details.hosts')} hint={t('connections.details.hostsHint')}>
        <span class="font-mono text-xs wrap-anywhere text-ink-2">{props.credential.hosts.join(', ')}</span>
      </Row>
      <Show when={props.credential.kind === 'oauth2'}>
        <Row label={t('connections.details.expires')}>
          <span class="text-sm text-ink-2">
            <Show when={!props.credential.renews} fallback={t('connections.details.renews')}>
              <Show when={props.credential.expiresAt} fallback={t('connections.details.never')}>
                {(at) => <Time at={at()} />}
              </Show>
            </Show>
          </span>
        </Row>
      </Show>
      <Row label={t('connections.details.lastUsed')}>
        <span class="text-sm text-ink-2">
          <Show when={props.credential.lastUsedAt} fallback={t('connections.neverUsed')}>
            {(at) => <Time at={at()} />}
          </Show>
        </span>
      </Row>
      <Row label={t('connections.details.connected')}>
        <span class="text-sm text-ink-2">
          <Time at={props.credential.createdAt} />
        </span>
      </Row>
    </Panel>
  )
}
