import { createComputed, createEffect, createMemo, on, onMount, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { LongConversation } from '../../api/conversation.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import type { ChatTurn, SentTurn } from './chat-turns.ts'
import { ChatTurnView } from './ChatTurnView.tsx'
import type { useFollowBottom } from './use-follow-bottom.ts'

/** The steps of so many newest turns are fetched at once; those of older turns on request. */
const RECENT_TURNS = 20

/** The turns of a conversation, scrolled to the newest. */
export function TurnList(props: {
  turns: ChatTurn[]
  isLoading: boolean
  earlier: Omit<LongConversation, 'answer'>
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
  useKeptPosition(
    createMemo(() => props.turns[0]?.key),
    () => ({ scroller, content }),
  )
  const recentFrom = () => props.turns.length - RECENT_TURNS
  return (
    <div
      ref={(element) => (scroller = element)}
      tabIndex={0}
      role="group"
      aria-label={t('chat.title')}
      class="scroll-quiet h-full overflow-y-auto focus-visible:-outline-offset-2"
    >
      <div ref={(element) => (content = element)} class="mx-auto flex w-full max-w-3xl flex-col gap-7 px-6 py-6 max-sm:px-3">
        <Show when={props.isLoading}>
          <Skeleton rows={6} />
        </Show>
        <Show when={props.earlier.hasEarlier()}>
          <Button
            size="sm"
            variant="ghost"
            class="self-center"
            busy={props.earlier.isLoadingEarlier()}
            onClick={() => void props.earlier.loadEarlier()}
          >
            {t('chat.earlierMessages')}
          </Button>
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

/** What the person reads stays in its place when earlier turns appear above it. */
function useKeptPosition(firstKey: () => string | undefined, elements: () => { scroller: HTMLElement; content: HTMLElement }): void {
  let first: HTMLElement | null = null
  let bottom = 0
  // Before the page changes. The bottom, because the start of this turn may be among the earlier messages.
  createComputed(
    on(
      firstKey,
      () => {
        first = elements().content.querySelector('article')
        bottom = first?.getBoundingClientRect().bottom ?? 0
      },
      { defer: true },
    ),
  )
  // After it.
  createEffect(
    on(
      firstKey,
      () => {
        if (first?.isConnected === true) elements().scroller.scrollTop += first.getBoundingClientRect().bottom - bottom
        first = null
      },
      { defer: true },
    ),
  )
}
