import { createEffect, createMemo, createSignal, Match, on, Show, Switch, untrack } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { ApiError } from '../../api/client.ts'
import { useConversation } from '../../api/conversation.ts'
import { useCancelJob } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import type { useAgents } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { joinDrafts, keepDraft, readDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Select } from '../../ui/Select.tsx'
import { type ChatTurn, chatTurns, draftOf, isUnderWay, type SentTurn } from './chat-turns.ts'
import { ChatHeader } from './ChatHeader.tsx'
import { TurnList } from './TurnList.tsx'
import { Composer } from './Composer.tsx'
import { linkedTask, setLinkedTask } from './new-chat.ts'
import { NewChat } from './NewChat.tsx'
import type { Chat } from './use-chat.ts'
import { useFollowBottom } from './use-follow-bottom.ts'

type PaneProps = {
  opened: unknown
  conversationId: string | null
  urlAgentId: string | null
  agents: ReturnType<typeof useAgents>
  chat: Chat
  onList: () => void
  onNew: () => void
}

/** One conversation, or a new one: its turns, and the field to write in. */
export function ChatPane(props: PaneProps) {
  const { answer: conversation, ...earlier } = useConversation(() => props.conversationId)
  const [chosenId, setChosenId] = createSignal<string | null>(null)
  const draft = useDraft(() => draftOf(props.conversationId))
  const follow = useFollowBottom()

  const allAgents = () => props.agents.data?.agents ?? []
  const newAgent = createMemo((): Agent | undefined => {
    if (props.conversationId !== null) return undefined
    const preferredId = chosenId() ?? props.urlAgentId
    return allAgents().find((agent) => agent.id === preferredId) ?? allAgents().find((agent) => agent.isDefault) ?? allAgents()[0]
  })
  const turns = createMemo(() => chatTurns(conversation.data?.messages ?? [], conversation.data?.jobs ?? [], props.chat.sent()))
  createEffect(() => props.chat.noteRecorded(new Set(conversation.data?.messages.map(({ jobId }) => jobId))))
  /** null: there is none, or it is not known yet whose conversation it is. */
  const agentId = () => conversation.data?.conversation.agentId ?? props.chat.sent()[0]?.agentId ?? newAgent()?.id ?? null
  const agent = () => allAgents().find((one) => one.id === agentId())
  const agentName = () => agent()?.name ?? conversation.data?.conversation.agentName ?? t('common.agent')
  const running = createMemo(() => turns().find((turn) => isUnderWay(turn) && turn.jobId !== null))
  const stop = useStop(running)
  const isGone = () => conversation.error instanceof ApiError && conversation.error.status === 404
  const title = () =>
    conversation.data?.conversation.title || (props.conversationId === null && turns().length === 0 ? t('chat.newChat') : agentName())

  createEffect(
    on(
      () => props.urlAgentId,
      () => setChosenId(null),
    ),
  )
  createEffect(
    on(
      () => props.conversationId,
      () => follow.toBottom(),
    ),
  )

  const [isFromLink, setFromLink] = createSignal(false)
  createEffect(() => {
    const task = linkedTask()
    if (props.conversationId !== null) return setFromLink(false)
    if (task === null || agentId() === null) return
    setLinkedTask(null)
    setFromLink(true)
    untrack(() => draft.add(task))
  })

  const send = (text: string) => {
    const id = agentId()
    if (id === null) return
    setFromLink(false)
    props.chat.send(id, text)
    follow.toBottom()
  }
  const edit = (sent: SentTurn) => {
    props.chat.edit(sent)
    draft.focus()
  }

  return (
    <section class="flex min-w-0 flex-1 flex-col bg-surface" aria-label={title()}>
      <ChatHeader
        title={title()}
        agent={agent()}
        agentName={agentName()}
        conversation={conversation.data}
        hasTurns={turns().length > 0}
        onList={props.onList}
        onNew={props.onNew}
      />
      <Switch>
        <Match when={isGone() || (conversation.error && conversation.data === undefined)}>
          <NotLoaded isGone={isGone()} error={conversation.error} onNew={props.onNew} onRetry={conversation.retry} />
        </Match>
        <Match when={props.conversationId === null && turns().length === 0}>
          <NewChat agents={props.agents} agent={newAgent()} onSuggestion={draft.suggest} />
        </Match>
        <Match when={true}>
          <div class="relative min-h-0 flex-1">
            <TurnList
              turns={turns()}
              isLoading={props.conversationId !== null && conversation.isPending && turns().length === 0}
              earlier={earlier}
              follow={follow}
              agentName={agentName()}
              agent={agent()}
              onSendAgain={props.chat.sendAgain}
              onEdit={edit}
            />
          </div>
        </Match>
      </Switch>
      <Show when={!isGone() && (props.conversationId !== null || agentId() !== null)}>
        <div class="mx-auto w-full max-w-3xl px-6 pb-4 max-sm:px-3 max-sm:pb-3">
          <p role="status" class={isFromLink() ? 'px-1 pb-1.5 text-xs text-warn' : 'sr-only'}>
            {isFromLink() ? t('chat.fromLink') : ''}
          </p>
          <Composer
            opened={props.opened}
            draft={draftOf(props.conversationId)}
            placeholder={running() === undefined ? t('chat.placeholder', { agent: agentName() }) : t('chat.placeholderQueued')}
            disabled={agentId() === null || (props.conversationId === null && props.chat.isOpening())}
            onSend={send}
            onStop={running() === undefined ? undefined : () => void stop.run()}
            isStopping={stop.isRequested()}
            filled={draft.filled()}
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
    </section>
  )
}

/** Puts texts into the draft. `filled` changes whenever its field is to get the focus. */
function useDraft(name: () => string) {
  const [filled, setFilled] = createSignal(0)
  let suggested: string | null = null
  const focus = () => setFilled((count) => count + 1)
  /** What the person has begun to write stays above the text. */
  const add = (text: string) => {
    keepDraft(name(), joinDrafts(readDraft(name()), text))
    focus()
  }
  return {
    filled,
    focus,
    add,
    suggest(text: string) {
      // Another suggestion replaces one that was left as it is.
      if (readDraft(name()) === suggested) keepDraft(name(), '')
      suggested = text
      add(text)
    },
  }
}

/** Stops the running turn. It counts as stopping at once; the runner needs up to two seconds. */
function useStop(running: () => ChatTurn | undefined): { run: () => Promise<void>; isRequested: () => boolean } {
  const cancel = useCancelJob()
  const [stopping, setStopping] = createSignal<string | null>(null)
  return {
    isRequested: () => running()?.job?.cancelRequested === true || (running() !== undefined && stopping() === running()?.jobId),
    async run() {
      const jobId = running()?.jobId ?? null
      if (jobId === null) return
      setStopping(jobId)
      try {
        await cancel.run({ params: { jobId } })
      } catch (thrown) {
        setStopping(null)
        if (!(thrown instanceof ApiError && thrown.code === 'job_already_finished')) toastError(thrown)
      }
    },
  }
}

/** The conversation does not exist, or could not be loaded. */
function NotLoaded(props: { isGone: boolean; error: unknown; onNew: () => void; onRetry: () => void }) {
  return (
    <div class="mx-auto w-full max-w-3xl flex-1 p-6">
      <Show when={props.isGone} fallback={<ErrorState problem={problemOf(props.error)} onRetry={props.onRetry} />}>
        <ErrorState
          problem={{ title: t('chat.gone'), why: t('chat.goneWhy') }}
          actions={
            <Button size="sm" onClick={() => props.onNew()}>
              {t('chat.newChat')}
            </Button>
          }
        />
      </Show>
    </div>
  )
}
