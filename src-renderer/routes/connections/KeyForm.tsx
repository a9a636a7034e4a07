import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf } from '../../api/problem.ts'
import { localText, t } from '../../lib/language.ts'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { AgentGrantsField } from './AgentGrants.tsx'
import { connectTitle, firstFields, hostsIn, isGeneric } from './connection.ts'
import { firstGrants } from './first-grants.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { HostsField, SentTo } from './OAuthForm.tsx'
import { SetUpSteps } from './SetUpSteps.tsx'

/** Connects an account by an API key, a name and password, or a header. It is tested before it is stored. */
export function KeyForm(props: {
  connector: Connector
  agents: readonly Agent[]
  agentId?: string | undefined
  /** Gets a new key. What is not asked for stays as it was. */
  existing?: Credential | undefined
  onDone: (credentialId: string, name: string) => void
  onClose: () => void
  /** Chooses between the ways to connect. */
  ways?: JSX.Element
}): JSX.Element {
  const create = useAction('createCredential')
  const [draft, setDraft] = createStore({
    key: '',
    username: '',
    header: '',
    hosts: '',
    name: '',
    fields: firstFields(props.connector),
    grants: firstGrants(props.agents, props.agentId),
  })
  const isNew = () => props.existing === undefined
  const [wasTried, setTried] = createSignal(false)
  /** A service that signs people in has other steps for a key. */
  const howTo = () => {
    const { oauth, steps, setUpUrl, keySteps, keyUrl } = props.connector
    return oauth === null ? { steps, url: setUpUrl } : { steps: keySteps, url: keyUrl }
  }
  const secret = () => {
    const key = draft.key.trim()
    if (props.connector.kind === 'basic') return { username: draft.username.trim(), password: draft.key }
    if (props.connector.kind === 'header' && props.connector.keyHeader === null) return { header: draft.header.trim(), value: key }
    return { key }
  }
  const send = async () => {
    setTried(true)
    if (draft.key.trim() === '') return
    const name = draft.name.trim()
    try {
      const { credential } = await create.run({
        body: {
          connector: props.connector.slug,
          secret: secret(),
          ...(props.existing === undefined
            ? {
                agents: draft.grants.map(({ agentId, access }) => ({ agentId, access })),
                ...(name !== '' && { name }),
                ...(props.connector.fields.length > 0 && { fields: { ...draft.fields } }),
                ...(isGeneric(props.connector) && { hosts: hostsIn(draft.hosts) }),
              }
            : { credentialId: props.existing.id }),
        },
      })
      props.onDone(credential.id, credential.name)
    } catch {
      // The form shows the error.
    }
  }
  const password = (label: string) => (
    <TextField
      label={label}
      type="password"
      data-1p-ignore=""
      mono
      value={draft.key}
      onValue={(key) => setDraft({ key })}
      hint={t('connections.connect.secretHint')}
      problem={wasTried() && draft.key.trim() === '' ? t('connections.connect.keyMissing') : issueOf(create.error, 'secret')}
    />
  )
  return (
    <FormDialog
      onClose={props.onClose}
      title={isNew() ? connectTitle(props.connector) : t('connections.connect.newKeyTitle', { name: props.existing!.name })}
      submit={t('connections.connect.connect')}
      onSubmit={() => void send()}
      isRunning={create.isRunning}
    >
      {props.ways}
      <SetUpSteps {...howTo()} redirectUri={null} />
      <Show when={isNew()}>
        <For each={props.connector.fields}>
          {({ name, label }) => (
            <TextField
              label={localText(label)}
              mono
              value={draft.fields[name] ?? ''}
              onValue={(value) => setDraft('fields', name, value)}
            />
          )}
        </For>
        <Show when={isGeneric(props.connector)}>
          <TextField label={t('connections.connect.name')} optional value={draft.name} onValue={(name) => setDraft({ name })} />
          <HostsField value={draft.hosts} onValue={(hosts) => setDraft({ hosts })} error={create.error} />
        </Show>
      </Show>
      <SentTo connector={props.connector} existing={props.existing} />
      <Switch>
        <Match when={props.connector.kind === 'basic'}>
          <TextField label={t('connections.connect.username')} value={draft.username} onValue={(username) => setDraft({ username })} />
          {password(t('connections.connect.password'))}
        </Match>
        <Match when={props.connector.kind === 'header' && props.connector.keyHeader === null}>
          <TextField
            label={t('connections.connect.header')}
            mono
            placeholder="X-Api-Key"
            value={draft.header}
            onValue={(header) => setDraft({ header })}
            problem={issueOf(create.error, 'secret.header')}
          />
          {password(t('connections.connect.value'))}
        </Match>
        <Match when={true}>{password(t(props.connector.oauth === null ? 'connections.connect.key' : 'connections.connect.wayKey'))}</Match>
      </Switch>
      <Show when={isNew()}>
        <AgentGrantsField agents={props.agents} grants={draft.grants} onGrants={(grants) => setDraft({ grants })} />
      </Show>
      <FormProblem error={create.error} />
    </FormDialog>
  )
}
