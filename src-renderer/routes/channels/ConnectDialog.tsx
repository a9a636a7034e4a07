import ExternalLink from 'lucide-solid/icons/external-link'
import { createSignal, For, type JSX, Show } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Channel } from '../../../src-runner/contract/channels.ts'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { useChannels } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { ChannelPeople } from './ChannelPeople.tsx'

const BOT_FATHER = 'https://t.me/BotFather'
/** A token of BotFather: the number of the bot, a colon, and the secret. */
const TOKEN = /^\d{5,20}:[\w-]{20,}$/

/** Connects a bot: how to create it, its token, and the first person who writes to it. */
export function ConnectDialog(props: { agents: readonly Agent[]; agentId?: string; existing?: Channel; onClose: () => void }): JSX.Element {
  const [made, setMade] = createSignal<string | null>(null)
  return (
    <Show
      when={made()}
      fallback={<TokenDialog {...props} onDone={(channelId) => (props.existing === undefined ? setMade(channelId) : props.onClose())} />}
    >
      {(channelId) => <ConnectedDialog channelId={channelId()} onClose={props.onClose} />}
    </Show>
  )
}

function TokenDialog(props: {
  agents: readonly Agent[]
  agentId?: string
  existing?: Channel
  onDone: (channelId: string) => void
  onClose: () => void
}): JSX.Element {
  const desktop = useDesktop()
  const create = useAction('createChannel')
  const change = useAction('updateChannel')
  const [draft, setDraft] = createStore({
    agentId: props.agentId ?? props.agents.find((agent) => agent.isDefault)?.id ?? props.agents[0]?.id ?? '',
    token: '',
    baseUrl: '',
  })
  const [problem, setProblem] = createSignal<string | null>(null)
  const [isAdvanced, setAdvanced] = createSignal(false)
  const error = () => create.error ?? change.error
  const send = async () => {
    const token = draft.token.trim()
    if (!TOKEN.test(token)) return setProblem(t('channels.form.tokenBad'))
    setProblem(null)
    const baseUrl = draft.baseUrl.trim()
    try {
      if (props.existing !== undefined) {
        await change.run({ params: { channelId: props.existing.id }, body: { token } })
        return props.onDone(props.existing.id)
      }
      const body = { agentId: draft.agentId, kind: 'telegram' as const, token, baseUrl: baseUrl === '' ? null : baseUrl }
      props.onDone((await create.run({ body })).channel.id)
    } catch {
      // The form shows the error.
    }
  }
  return (
    <FormDialog
      onClose={props.onClose}
      title={props.existing === undefined ? t('channels.form.title') : t('channels.form.tokenTitle', { name: props.existing.name })}
      description={props.existing === undefined ? t('channels.form.about') : undefined}
      submit={props.existing === undefined ? t('channels.form.send') : t('channels.form.sendToken')}
      onSubmit={() => void send()}
      isRunning={create.isRunning || change.isRunning}
    >
      <Show when={props.existing === undefined}>
        <div>
          <ol class="flex list-decimal flex-col gap-1 pl-5 text-sm text-ink-2">
            <For each={['newBot', 'chooseName', 'copyToken'] as const}>{(step) => <li>{t(`channels.form.steps.${step}`)}</li>}</For>
          </ol>
          <Button class="mt-2" size="sm" icon={ExternalLink} onClick={() => void desktop.openExternal(BOT_FATHER)}>
            {t('channels.form.openBotFather')}
          </Button>
        </div>
        <Select
          label={t('channels.agent')}
          options={props.agents.map((agent) => ({ value: agent.id, label: agent.name }))}
          value={draft.agentId}
          onValue={(agentId) => setDraft({ agentId })}
        />
      </Show>
      <TextField
        label={t('channels.form.token')}
        type="password"
        autocomplete="off"
        data-1p-ignore=""
        mono
        value={draft.token}
        onValue={(token) => setDraft({ token })}
        hint={t('channels.form.tokenHint')}
        problem={problem() ?? issueOf(error(), 'token')}
      />
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
            hint={t('channels.form.baseUrlHint')}
            problem={issueOf(error(), 'baseUrl')}
          />
        </Show>
      </Show>
      <Show when={error()}>
        {(thrown) => (
          <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad wrap-anywhere">
            {sentenceOf(thrown())}
          </p>
        )}
      </Show>
    </FormDialog>
  )
}

/** A link to the chat that sends the pairing code. With it, a person is shown however many strangers wrote before. */
function linkWithCode(link: string, { kind, pairingCode }: Channel): string {
  return kind === 'telegram' ? `${link}?start=${pairingCode}` : link
}

/** The token works. The rest is done on the phone and shown here as it happens. */
function ConnectedDialog(props: { channelId: string; onClose: () => void }): JSX.Element {
  const desktop = useDesktop()
  const channels = useChannels()
  const channel = () => channels.data?.channels.find((one) => one.id === props.channelId)
  const hasOwner = () => channel()?.people.some((person) => person.role === 'owner') === true
  return (
    <Show when={channel()}>
      {(made) => (
        <Dialog
          open
          onClose={props.onClose}
          title={t('channels.connected.title', { name: made().name })}
          description={t('channels.connected.next')}
          actions={
            <Button variant={hasOwner() ? 'primary' : 'secondary'} onClick={() => props.onClose()}>
              {t('channels.connected.done')}
            </Button>
          }
        >
          <div class="flex flex-col gap-3">
            <Show when={made().link}>
              {(link) => (
                <Button class="self-start" icon={ExternalLink} onClick={() => void desktop.openExternal(linkWithCode(link(), made()))}>
                  {t('channels.connected.open')}
                </Button>
              )}
            </Show>
            <Show
              when={made().people.length > 0}
              fallback={
                <p role="status" class="text-sm text-ink-3">
                  {t('channels.connected.waiting')}
                </p>
              }
            >
              <div class="overflow-hidden rounded-lg border border-line [&>*:first-child]:border-t-0">
                <ChannelPeople channel={made()} />
              </div>
            </Show>
          </div>
        </Dialog>
      )}
    </Show>
  )
}
