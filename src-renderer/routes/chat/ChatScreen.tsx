import { useNavigate, useParams, useSearchParams } from '@solidjs/router'
import Bot from 'lucide-solid/icons/bot'
import PanelLeft from 'lucide-solid/icons/panel-left'
import SquarePen from 'lucide-solid/icons/square-pen'
import Trash from 'lucide-solid/icons/trash'
import { createEffect, createMemo, createSignal, Match, on, onMount, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { useCancelJob, useDeleteConversation } from '../../api/mutations.ts'
import { ApiError } from '../../api/client.ts'
import { problemOf, sentenceOf } from '../../api/problem.ts'
import { useAgents, useConversation } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { ChannelIcon } from '../../features/chat-turn/ChannelIcon.tsx'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { type ChatTurn, chatTurns, isUnderWay, keepDraft, type SentTurn } from './chat-turns.ts'
import { ChatTurnView } from './ChatTurnView.tsx'
import { Composer } from './Composer.tsx'
import { ConversationList } from './ConversationList.tsx'
import { NEW_CHAT } from './new-chat.ts'
import { type Chat, useChat } from './use-chat.ts'
import { useFollowBottom } from './use-follow-bottom.ts'

/** Steps of so many newest turns are read at once; those of older ones when asked for. */
const RECENT_TURNS = 20

/** One screen for a new chat and for every conversation, so that a new one takes its address without starting over. */
export function ChatScreen() {
  const params = useParams<{ conversationId?: string }>()
  const [search, setSearch] = useSearchParams<{ agent?: string; write?: string }>()
  const navigate = useNavigate()
  const conversationId = () => params.conversationId ?? null
  const agents = useAgents()
  const allAgents = () => agents.data?.agents ?? []
  const chat = useChat(conversationId, (id) => navigate(`/chat/${id}`, { replace: true, scroll: false }))
  const [isListOpen, setListOpen] = createSignal(false)
  const [wishes, setWishes] = createSignal(0)
  // Asked for where the chat is open already, too.
  createEffect(
    on(
      () => search.write,
      (write) => {
        if (write === undefined) return
        setWishes((count) => count + 1)
        setSearch({ write: undefined }, { replace: true })
      },
    ),
  )
  const opened = () => `${conversationId()} ${search.agent} ${wishes()}`
  const startNew = () => {
    chat.forgetNew()
    setListOpen(false)
    navigate(NEW_CHAT)
  }
  return (
    <div class="flex h-full min-h-0">
      <aside aria-label={t('chat.conversations')} class="w-64 shrink-0 border-r border-line max-lg:hidden">
        <ConversationList currentId={conversationId()} agents={allAgents()} onNew={startNew} />
      </aside>
      <Dialog open={isListOpen()} onClose={() => setListOpen(false)} title={t('chat.conversations')}>
        <div class="-mx-5 h-[60vh]">
          <ConversationList currentId={conversationId()} agents={allAgents()} onNew={startNew} onOpened={() => setListOpen(false)} />
        </div>
      </Dialog>
      <Pane
        conversationId={conversationId()}
        askedAgentId={search.agent ?? null}
        opened={opened()}
        agents={agents}
        chat={chat}
        onList={() => setListOpen(true)}
        onNew={startNew}
      />
    </div>
  )
}

type PaneProps = {
  opened: unknown
  conversationId: string | null
  askedAgentId: string | null
  agents: ReturnType<typeof useAgents>
  chat: Chat
  onList: () => void
  onNew: () => void
}

function Pane(props: PaneProps) {
  const navigate = useNavigate()
  const conversation = useConversation(() => props.conversationId)
  const [chosenId, setChosenId] = createSignal<string | null>(null)
  const [fill, setFill] = createSignal<{ text: string; nonce: number } | null>(null)
  const [isDeleting, setDeleting] = createSignal(false)
  const [stopping, setStopping] = createSignal<string | null>(null)
  const cancel = useCancelJob()
  const remove = useDeleteConversation()
  const follow = useFollowBottom()

  const allAgents = () => props.agents.data?.agents ?? []
  const newAgent = createMemo((): Agent | undefined => {
    const wanted = chosenId() ?? props.askedAgentId
    return allAgents().find((agent) => agent.id === wanted) ?? allAgents().find((agent) => agent.isDefault) ?? allAgents()[0]
  })
  const turns = createMemo(() => chatTurns(conversation.data?.messages ?? [], conversation.data?.jobs ?? [], props.chat.sent()))
  const agentId = () => conversation.data?.conversation.agentId ?? props.chat.sent()[0]?.agentId ?? newAgent()?.id ?? null
  const agent = () => allAgents().find((one) => one.id === agentId())
  const agentName = () => agent()?.name ?? conversation.data?.conversation.agentName ?? t('common.agent')
  const running = createMemo(() => turns().find((turn) => isUnderWay(turn) && turn.jobId !== null))
  const isStopping = () => running()?.job?.cancelRequested === true || (running() !== undefined && stopping() === running()?.jobId)
  const isGone = () => conversation.error instanceof ApiError && conversation.error.status === 404
  /** Where the talk takes place, when that is not here. */
  const outsideChannel = () => conversation.data?.jobs.findLast((job) => job.channel !== 'chat' && job.channel !== 'api')?.channel
  const title = () =>
    conversation.data?.conversation.title || (props.conversationId === null && turns().length === 0 ? t('chat.newChat') : agentName())

  createEffect(
    on(
      () => props.askedAgentId,
      () => setChosenId(null),
    ),
  )
  createEffect(
    on(
      () => props.conversationId,
      () => follow.toBottom(),
    ),
  )

  const send = (text: string) => {
    const id = agentId()
    if (id === null) return
    props.chat.send(id, text)
    follow.toBottom()
  }
  const stop = async (turn: ChatTurn) => {
    if (turn.jobId === null) return
    setStopping(turn.jobId)
    try {
      await cancel.run({ params: { jobId: turn.jobId } })
    } catch (thrown) {
      setStopping(null)
      if (!(thrown instanceof ApiError && thrown.code === 'job_already_finished')) toast({ text: sentenceOf(thrown), tone: 'bad' })
    }
  }
  const edit = (sent: SentTurn) => {
    props.chat.forget(sent)
    setFill({ text: sent.text, nonce: Date.now() })
  }
  const deleteNow = async () => {
    const id = props.conversationId
    if (id === null) return
    await remove.run({ params: { conversationId: id } })
    keepDraft(id, '')
    toast({ text: t('chat.deleted') })
    navigate('/chat', { replace: true })
  }

  return (
    <section class="flex min-w-0 flex-1 flex-col bg-surface" aria-label={title()}>
      <header class="flex h-13 shrink-0 items-center gap-2.5 border-b border-line px-4">
        <span class="lg:hidden">
          <IconButton icon={PanelLeft} label={t('chat.backToList')} onClick={() => props.onList()} />
        </span>
        <Show when={props.conversationId !== null || turns().length > 0}>
          <Avatar name={agentName()} text={agent()?.avatar} size="sm" />
        </Show>
        <div class="min-w-0 flex-1">
          <h1 class="truncate text-sm font-semibold text-ink">{title()}</h1>
          <Show when={conversation.data !== undefined}>
            <p class="flex min-w-0 items-center gap-1.5 text-xs text-ink-3">
              <span class="truncate">{agentName()}</span>
              <Show when={outsideChannel()}>
                {(channel) => (
                  <span class="flex shrink-0 items-center gap-1">
                    <span aria-hidden="true">·</span>
                    <ChannelIcon channel={channel()} size={12} />
                    {t('automations.origin.via', { channel: t(`common.channel.${channel()}`) })}
                  </span>
                )}
              </Show>
            </p>
          </Show>
        </div>
        <span class="lg:hidden">
          <IconButton icon={SquarePen} label={t('chat.newChat')} onClick={() => props.onNew()} />
        </span>
        <Show when={conversation.data}>
          <Menu
            label={t('common.more')}
            items={[
              {
                label: t('chat.fix.agent'),
                icon: Bot,
                disabled: agent() === undefined,
                onSelect: () => navigate(`/agents/${agentId()}`),
              },
              'separator',
              { label: t('chat.deleteConversation'), icon: Trash, tone: 'bad', onSelect: () => setDeleting(true) },
            ]}
          />
        </Show>
      </header>
      <Switch>
        <Match when={isGone()}>
          <div class="mx-auto w-full max-w-3xl flex-1 p-6">
            <ErrorState
              problem={{ title: t('chat.gone'), why: t('chat.goneWhy') }}
              actions={
                <Button size="sm" onClick={() => props.onNew()}>
                  {t('chat.newChat')}
                </Button>
              }
            />
          </div>
        </Match>
        <Match when={conversation.error && conversation.data === undefined}>
          <div class="mx-auto w-full max-w-3xl flex-1 p-6">
            <ErrorState problem={problemOf(conversation.error)} onRetry={conversation.retry} />
          </div>
        </Match>
        <Match when={props.conversationId === null && turns().length === 0}>
          <NewChat agents={props.agents} agent={newAgent()} onSuggestion={(text) => setFill({ text, nonce: Date.now() })} />
        </Match>
        <Match when={true}>
          <div class="relative min-h-0 flex-1">
            <Turns
              turns={turns()}
              isLoading={props.conversationId !== null && conversation.isPending && turns().length === 0}
              isCut={(conversation.data?.messages.length ?? 0) >= 200}
              follow={follow}
              agentName={agentName()}
              agent={agent()}
              onSendAgain={props.chat.sendAgain}
              onEdit={edit}
            />
          </div>
        </Match>
      </Switch>
      <Show when={!isGone() && agentId() !== null}>
        <div class="mx-auto w-full max-w-3xl px-6 pb-4 max-sm:px-3 max-sm:pb-3">
          <Composer
            opened={props.opened}
            conversationId={props.conversationId}
            placeholder={running() === undefined ? t('chat.placeholder', { agent: agentName() }) : t('chat.placeholderQueued')}
            disabled={props.conversationId === null && props.chat.isOpening()}
            onSend={send}
            onStop={running() === undefined ? undefined : () => void stop(running()!)}
            isStopping={isStopping()}
            fill={fill()}
            onLatest={follow.isAway() ? follow.toBottom : undefined}
            leading={
              <Show when={props.conversationId === null && turns().length === 0 && allAgents().length > 1}>
                <Select
                  size="sm"
                  label={t('chat.chooseAgent')}
                  hideLabel
                  class="w-44 max-w-[50%]"
                  options={allAgents().map((one) => ({ value: one.id, label: one.name }))}
                  value={newAgent()?.id ?? null}
                  onValue={setChosenId}
                />
              </Show>
            }
          />
        </div>
      </Show>
      <ConfirmDialog
        open={isDeleting()}
        onClose={() => setDeleting(false)}
        title={t('chat.deleteTitle', { title: title() })}
        confirm={t('chat.deleteConversation')}
        tone="bad"
        onConfirm={deleteNow}
        describeError={sentenceOf}
      >
        <p>{t('chat.deleteText')}</p>
        <Show when={running()?.job && !isTerminal(running()!.job!.status)}>
          <p class="mt-2 text-warn">{t('chat.deleteRunning')}</p>
        </Show>
      </ConfirmDialog>
    </section>
  )
}

function Turns(props: {
  turns: ChatTurn[]
  isLoading: boolean
  isCut: boolean
  follow: ReturnType<typeof useFollowBottom>
  agentName: string
  agent: Agent | undefined
  onSendAgain: (sent: SentTurn) => void
  onEdit: (sent: SentTurn) => void
}) {
  let scroller!: HTMLDivElement
  let content!: HTMLDivElement
  onMount(() => {
    props.follow.watch(scroller, content)
    props.follow.toBottom()
  })
  const recentFrom = () => props.turns.length - RECENT_TURNS
  return (
    <div
      ref={(element) => {
        scroller = element
      }}
      tabIndex={0}
      role="group"
      aria-label={t('chat.title')}
      class="scroll-quiet h-full overflow-y-auto focus-visible:-outline-offset-2"
    >
      <div
        ref={(element) => {
          content = element
        }}
        class="mx-auto flex w-full max-w-3xl flex-col gap-7 px-6 py-6 max-sm:px-3"
      >
        <Show when={props.isLoading}>
          <Skeleton rows={6} />
        </Show>
        <Show when={props.isCut}>
          <p class="text-center text-xs text-ink-3">{t('chat.earlierMessages')}</p>
        </Show>
        <KeyedFor each={props.turns} keyOf={(turn) => turn.key}>
          {(turn) => (
            <ChatTurnView
              turn={turn()}
              agentName={props.agentName}
              agent={props.agent}
              isRecent={props.turns.indexOf(turn()) >= recentFrom()}
              onSendAgain={props.onSendAgain}
              onEdit={props.onEdit}
            />
          )}
        </KeyedFor>
      </div>
    </div>
  )
}

const SUGGESTIONS = ['introduce', 'folder', 'plan'] as const

function NewChat(props: { agents: ReturnType<typeof useAgents>; agent: Agent | undefined; onSuggestion: (text: string) => void }) {
  return (
    <div class="scroll-quiet flex min-h-0 flex-1 flex-col justify-center overflow-y-auto px-6 py-8 max-sm:px-3">
      <Switch>
        <Match when={props.agents.error && props.agents.data === undefined}>
          <div class="mx-auto w-full max-w-xl">
            <ErrorState problem={problemOf(props.agents.error)} onRetry={props.agents.retry} />
          </div>
        </Match>
        <Match when={props.agents.isPending}>
          <Skeleton rows={3} class="mx-auto w-full max-w-xl" />
        </Match>
        <Match when={props.agent}>
          {(agent) => (
            <div class="mx-auto flex w-full max-w-xl flex-col items-center text-center">
              <Avatar name={agent().name} text={agent().avatar} size="lg" />
              <h2 class="mt-4 text-xl font-semibold tracking-tight text-balance text-ink">
                {t('chat.emptyTitle', { agent: agent().name })}
              </h2>
              <p class="mt-1 text-sm text-pretty text-ink-2">{t('chat.emptyText')}</p>
              <ul class="mt-6 flex w-full flex-col gap-2" aria-label={t('chat.suggestions')}>
                <KeyedFor each={SUGGESTIONS.map((one) => t(`chat.suggested.${one}`))} keyOf={(text) => text}>
                  {(text) => (
                    <li>
                      <button
                        type="button"
                        class="w-full rounded-lg border border-line px-3.5 py-2.5 text-left text-sm text-ink-2 transition-colors duration-100 hover:border-line-strong hover:bg-hover hover:text-ink"
                        onClick={() => props.onSuggestion(text())}
                      >
                        {text()}
                      </button>
                    </li>
                  )}
                </KeyedFor>
              </ul>
            </div>
          )}
        </Match>
        <Match when={true}>
          <EmptyState
            icon={Bot}
            title={t('chat.noAgents')}
            action={
              <ButtonLink variant="primary" href="/agents/new">
                {t('chat.createAgent')}
              </ButtonLink>
            }
          >
            {t('chat.noAgentsWhy')}
          </EmptyState>
        </Match>
      </Switch>
    </div>
  )
}
