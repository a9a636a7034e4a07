import ExternalLink from 'lucide-solid/icons/external-link'
import { createSignal, For, type JSX, Show } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { SERVICE_NAMES, type Channel } from '../../../src-runner/contract/channels.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf } from '../../api/problem.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { AgentSelect, firstAgentId } from './AgentSelect.tsx'
import { SERVICES, type TokenServiceKind } from './services/services.ts'
import { kindOfToken, type TokenKind } from './services/token-kinds.ts'

type Field = 'token' | 'appToken'

/** How to make the tokens of a service, and where to paste them. With `existing`, only the tokens are replaced. */
export function TokenDialog(props: {
  kind: TokenServiceKind
  agents: readonly Agent[]
  agentId?: string | undefined
  existing?: Channel | undefined
  onDone: (channelId: string) => void
  onClose: () => void
}): JSX.Element {
  const create = useAction('createChannel')
  const change = useAction('updateChannel')
  const service = () => SERVICES[props.kind]
  const name = () => SERVICE_NAMES[props.kind]
  const [draft, setDraft] = createStore({
    agentId: props.agentId ?? firstAgentId(props.agents),
    token: '',
    appToken: '',
    baseUrl: '',
  })
  const [problems, setProblems] = createStore<Partial<Record<Field, string | null>>>({})
  const [isAdvanced, setAdvanced] = createSignal(false)
  const error = () => create.error ?? change.error
  const agentName = () => props.agents.find((agent) => agent.id === draft.agentId)?.name ?? ''

  const problemOf = (field: Field, kind: TokenKind): string | null => {
    const found = kindOfToken(draft[field].trim())
    if (found === kind) return null
    if (found === null) return t('channels.form.tokenBad', { example: EXAMPLES[kind] })
    return t('channels.form.tokenWrong', { found: t(`channels.tokenKinds.${found}`), wanted: t(`channels.tokenKinds.${kind}`) })
  }
  const send = async () => {
    const checked = service().tokens.map(({ field, kind }) => [field, problemOf(field, kind)] as const)
    setProblems(Object.fromEntries(checked))
    if (checked.some(([, problem]) => problem !== null)) return
    const appToken = draft.appToken.trim()
    const tokens = { token: draft.token.trim(), ...(appToken === '' ? {} : { appToken }) }
    const baseUrl = draft.baseUrl.trim()
    try {
      if (props.existing !== undefined) {
        await change.run({ params: { channelId: props.existing.id }, body: tokens })
        return props.onDone(props.existing.id)
      }
      const body = { agentId: draft.agentId, kind: props.kind, ...tokens, baseUrl: baseUrl === '' ? null : baseUrl }
      props.onDone((await create.run({ body })).channel.id)
    } catch {
      // The form shows the error.
    }
  }
  return (
    <FormDialog
      onClose={props.onClose}
      title={
        props.existing === undefined
          ? t('channels.form.title', { service: name() })
          : t('channels.form.tokenTitle', { name: props.existing.name })
      }
      description={props.existing === undefined ? t(`channels.services.${props.kind}.about`) : undefined}
      submit={props.existing === undefined ? t('channels.form.send') : t('channels.form.sendToken')}
      onSubmit={() => void send()}
      isRunning={create.isRunning || change.isRunning}
    >
      <Show when={props.existing === undefined}>
        <AgentSelect agents={props.agents} agentId={draft.agentId} onAgent={(agentId) => setDraft({ agentId })} />
        <TokenSteps kind={props.kind} agentName={agentName()} />
      </Show>
      <For each={service().tokens}>
        {({ field, kind }) => (
          <TextField
            label={service().tokens.length === 1 ? t('channels.form.token') : t(`channels.tokenLabels.${kind}`)}
            type="password"
            autocomplete="off"
            data-1p-ignore=""
            mono
            placeholder={EXAMPLES[kind]}
            value={draft[field]}
            onValue={(token) => setDraft(field, token)}
            hint={t('channels.form.tokenHint')}
            problem={problems[field] ?? issueOf(error(), field)}
          />
        )}
      </For>
      <Show when={props.existing === undefined}>
        <Show
          when={isAdvanced()}
          fallback={
            <button type="button" class="self-start text-xs text-accent-ink hover:underline" onClick={() => setAdvanced(true)}>
              {t('channels.form.advanced')}
            </button>
          }
        >
          <TextField
            label={t('channels.form.baseUrl')}
            optional
            type="url"
            mono
            value={draft.baseUrl}
            onValue={(baseUrl) => setDraft({ baseUrl })}
            hint={t('channels.form.baseUrlHint', { service: name() })}
            problem={issueOf(error(), 'baseUrl')}
          />
        </Show>
      </Show>
      <FormProblem error={error()} />
    </FormDialog>
  )
}

const EXAMPLES: Record<TokenKind, string> = {
  telegram: '123456789:AAE…',
  discord: 'MTA1….G….…',
  slack_bot: 'xoxb-…',
  slack_app: 'xapp-…',
  slack_user: 'xoxp-…',
}

/** What to do at the service, which opens from here. */
function TokenSteps(props: { kind: TokenServiceKind; agentName: string }): JSX.Element {
  const desktop = useDesktop()
  const service = () => SERVICES[props.kind]
  const site = () => {
    const given = service().site
    return typeof given === 'string' ? given : given(props.agentName)
  }
  return (
    <div>
      <ol class="flex list-decimal flex-col gap-1 pl-5 text-sm text-ink-2">
        <For each={service().steps}>{(step) => <li>{t(`channels.services.${props.kind}.steps.${step}`)}</li>}</For>
      </ol>
      <div class="mt-2 flex flex-wrap gap-2">
        <Button size="sm" icon={ExternalLink} onClick={() => void desktop.openExternal(site())}>
          {t(`channels.services.${props.kind}.open`)}
        </Button>
        <Show when={service().manifest}>
          {(manifest) => (
            <CopyButton
              size="sm"
              show="text"
              label={t('channels.form.copyManifest')}
              text={() => manifest()(props.agentName)}
              copy={desktop.copyText}
            />
          )}
        </Show>
      </div>
    </div>
  )
}
