import { createSignal, For, type JSX, onCleanup, Show } from 'solid-js'
import { createStore, type SetStoreFunction } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Connector, ListedConnector } from '../../../src-runner/contract/connectors.ts'
import type { Credential, CredentialGrant } from '../../../src-runner/contract/credentials.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { localText, t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Fold } from '../../ui/Fold.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { AgentGrantsField } from './AgentGrants.tsx'
import { connectTitle, firstFields, hostsIn, isGeneric } from './connection.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { firstGrants } from './first-grants.ts'
import { ScopesField } from './ScopesField.tsx'
import { SetUpSteps } from './SetUpSteps.tsx'

/** The issuer finds the others, where the service publishes them. */
const ENDPOINTS = ['issuer', 'authorizationUrl', 'tokenUrl', 'revocationUrl', 'deviceUrl'] as const

type OAuthFields = {
  /** The name of a service that is not in the catalogue. */
  name: string
  clientId: string
  clientSecret: string
  scopes: string[]
  /** The scopes of a service that is not in the catalogue, as typed. */
  scopeText: string
  hosts: string
  endpoints: Record<(typeof ENDPOINTS)[number], string>
  fields: Record<string, string>
  byCode: boolean
  grants: CredentialGrant[]
}
export type OAuthDraft = { fields: OAuthFields; set: SetStoreFunction<OAuthFields> }

export function createOAuthDraft(of: {
  connector: Connector
  agents: readonly Agent[]
  agentId?: string | undefined
  existing?: Credential | undefined
}): OAuthDraft {
  const { connector, existing } = of
  const [fields, set] = createStore<OAuthFields>({
    name: '',
    clientId: '',
    clientSecret: '',
    scopes: existing?.scopes ?? connector.scopes.filter(({ preset }) => preset).map(({ scope }) => scope),
    scopeText: existing?.scopes.join(' ') ?? '',
    hosts: existing?.hosts.join(' ') ?? '',
    endpoints: { issuer: '', authorizationUrl: '', tokenUrl: '', revocationUrl: '', deviceUrl: '' },
    fields: firstFields(connector),
    byCode: false,
    grants: firstGrants(of.agents, of.agentId),
  })
  return { fields, set }
}

/** What a sign-in needs before the browser opens. With `existing`, everything may stay as it was. */
export function OAuthForm(props: {
  draft: OAuthDraft
  connector: ListedConnector
  agents: readonly Agent[]
  existing?: Credential | undefined
  onStarted: (authorizationId: string) => void
  onClose: () => void
  /** Chooses between the ways to connect. */
  ways?: JSX.Element
}): JSX.Element {
  const desktop = useDesktop()
  const create = useAction('createAuthorization')
  const cancel = useAction('cancelAuthorization')
  let isOpen = true
  onCleanup(() => (isOpen = false))
  const isNew = () => props.existing === undefined
  const hasDevice = () => props.connector.oauth?.deviceUrl != null || props.draft.fields.endpoints.deviceUrl.trim() !== ''
  const [wasTried, setTried] = createSignal(false)
  const isMissing = () => isNew() && props.draft.fields.clientId.trim() === ''
  const start = async () => {
    setTried(true)
    if (isMissing()) return
    const request = bodyOf(props.connector, props.draft.fields, props.existing)
    try {
      const { authorization } = await create.run({ body: request })
      // The person closed the form meanwhile.
      if (!isOpen) return void cancel.run({ params: { authorizationId: authorization.id } }).catch(toastError)
      props.onStarted(authorization.id)
      if (authorization.device === null) await desktop.openSignIn(authorization.id).catch(toastError)
    } catch {
      // The form shows the error.
    }
  }
  return (
    <FormDialog
      onClose={props.onClose}
      title={
        props.existing === undefined ? connectTitle(props.connector) : t('connections.connect.againTitle', { service: props.existing.name })
      }
      submit={t('connections.connect.signIn')}
      onSubmit={() => void start()}
      isRunning={create.isRunning}
    >
      {props.ways}
      <Show when={isNew()} fallback={<p class="text-sm text-ink-2">{t('connections.connect.againAbout')}</p>}>
        <SetUpSteps steps={props.connector.steps} url={props.connector.setUpUrl} redirectUri={props.connector.redirectUri} />
        <OwnFields connector={props.connector} draft={props.draft} error={create.error} />
        <ClientFields
          draft={props.draft}
          isMissing={wasTried() && isMissing()}
          needsSecret={props.connector.oauth?.clientAuth !== 'none'}
          error={create.error}
        />
      </Show>
      <SentTo connector={props.connector} existing={props.existing} />
      <ScopesField connector={props.connector} value={props.draft.fields.scopes} onValue={(scopes) => props.draft.set({ scopes })} />
      <Show when={isNew()}>
        <AgentGrantsField agents={props.agents} grants={props.draft.fields.grants} onGrants={(grants) => props.draft.set({ grants })} />
      </Show>
      <Show when={hasDevice()}>
        <Checkbox
          label={t('connections.connect.byCode')}
          hint={t('connections.connect.byCodeHint')}
          checked={props.draft.fields.byCode}
          onChecked={(byCode) => props.draft.set({ byCode })}
        />
      </Show>
      <Show when={!isNew()}>
        <Fold label={t('connections.connect.otherClient')}>
          <div class="flex flex-col gap-4 pt-2">
            <ClientFields
              draft={props.draft}
              isMissing={wasTried() && isMissing()}
              needsSecret={props.connector.oauth?.clientAuth !== 'none'}
              error={create.error}
            />
          </div>
        </Fold>
      </Show>
      <FormProblem error={create.error} />
    </FormDialog>
  )
}

/** The id and the secret of the app that the person registered at the service. */
function ClientFields(props: { draft: OAuthDraft; isMissing: boolean; needsSecret: boolean; error: unknown }): JSX.Element {
  return (
    <>
      <TextField
        label={t('connections.connect.clientId')}
        mono
        value={props.draft.fields.clientId}
        onValue={(clientId) => props.draft.set({ clientId })}
        problem={props.isMissing ? t('connections.connect.clientIdMissing') : issueOf(props.error, 'clientId')}
      />
      <TextField
        label={t('connections.connect.clientSecret')}
        optional={!props.needsSecret}
        type="password"
        data-1p-ignore=""
        mono
        value={props.draft.fields.clientSecret}
        onValue={(clientSecret) => props.draft.set({ clientSecret })}
        hint={t('connections.connect.secretHint')}
        problem={issueOf(props.error, 'clientSecret')}
      />
    </>
  )
}

/** Addresses of a service that is not in the catalogue, and fields such as the domain of a server of one's own. */
function OwnFields(props: { connector: Connector; draft: OAuthDraft; error: unknown }): JSX.Element {
  return (
    <>
      <For each={props.connector.fields}>
        {({ name, label }) => (
          <TextField
            label={localText(label)}
            mono
            value={props.draft.fields.fields[name] ?? ''}
            onValue={(value) => props.draft.set('fields', name, value)}
            problem={issueOf(props.error, `fields.${name}`)}
          />
        )}
      </For>
      <Show when={isGeneric(props.connector)}>
        <TextField
          label={t('connections.connect.name')}
          optional
          value={props.draft.fields.name}
          onValue={(name) => props.draft.set({ name })}
        />
        <For each={ENDPOINTS}>
          {(name) => (
            <TextField
              label={t(`connections.connect.endpoints.${name}`)}
              optional
              hint={name === 'issuer' ? t('connections.connect.issuerHint') : undefined}
              type="url"
              mono
              placeholder="https://"
              value={props.draft.fields.endpoints[name]}
              onValue={(value) => props.draft.set('endpoints', name, value)}
              problem={issueOf(props.error, `endpoints.${name}`)}
            />
          )}
        </For>
        <HostsField value={props.draft.fields.hosts} onValue={(hosts) => props.draft.set({ hosts })} error={props.error} />
        <TextArea
          label={t('connections.scopes.typed')}
          optional
          rows={2}
          mono
          value={props.draft.fields.scopeText}
          onValue={(scopeText) => props.draft.set({ scopeText })}
          problem={issueOf(props.error, 'scopes')}
        />
      </Show>
    </>
  )
}

/** Where an existing account sends what a person enters, unless the catalogue fixes it. An import may have named the hosts. */
export function SentTo(props: { connector: Connector; existing: Credential | undefined }): JSX.Element {
  const hosts = () => (isGeneric(props.connector) || props.connector.fields.length > 0 ? (props.existing?.hosts ?? []) : [])
  return (
    <Show when={hosts().length > 0}>
      <p class="text-sm wrap-anywhere">{t('connections.connect.sentTo', { hosts: hosts().join(', ') })}</p>
    </Show>
  )
}

export function HostsField(props: { value: string; onValue: (hosts: string) => void; error: unknown }): JSX.Element {
  return (
    <TextField
      label={t('connections.connect.hosts')}
      mono
      placeholder="api.example.com"
      value={props.value}
      onValue={props.onValue}
      hint={t('connections.connect.hostsHint')}
      problem={issueOf(props.error, 'hosts')}
    />
  )
}

function bodyOf(connector: Connector, fields: OAuthFields, existing: Credential | undefined) {
  const given = (text: string) => (text.trim() === '' ? undefined : text.trim())
  const client = { clientId: given(fields.clientId), clientSecret: given(fields.clientSecret) }
  const common = { connector: connector.slug, method: fields.byCode ? ('device' as const) : ('browser' as const), ...client }
  const scopes = connector.scopes.length > 0 ? fields.scopes : hostsIn(fields.scopeText)
  if (existing !== undefined) return { ...common, credentialId: existing.id, ...(connector.scopes.length > 0 && { scopes }) }
  const endpoints = Object.fromEntries(
    ENDPOINTS.flatMap((name) => (given(fields.endpoints[name]) ? [[name, given(fields.endpoints[name])]] : [])),
  )
  return {
    ...common,
    scopes,
    agents: fields.grants.map(({ agentId, access }) => ({ agentId, access })),
    ...(connector.fields.length > 0 && { fields: { ...fields.fields } }),
    ...(isGeneric(connector) && { name: given(fields.name), endpoints, hosts: hostsIn(fields.hosts) }),
  }
}
