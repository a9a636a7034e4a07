import { useNavigate, useSearchParams } from '@solidjs/router'
import MessageSquare from 'lucide-solid/icons/message-square'
import Search from 'lucide-solid/icons/search'
import SquarePen from 'lucide-solid/icons/square-pen'
import { createEffect, createSignal, Match, on, onCleanup, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Conversation } from '../../../src-runner/contract/conversations.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useConversations } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { searchPart } from '../../lib/text.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Time } from '../../ui/Time.tsx'
import { VirtualList } from '../../ui/VirtualList.tsx'

const SEARCH_AFTER_MS = 180

export function ConversationList(props: { currentId: string | null; agents: readonly Agent[]; onNew: () => void; onOpened?: () => void }) {
  const navigate = useNavigate()
  // In the URL, so that a reload keeps it.
  const [search, setSearch] = useSearchParams<{ q?: string }>()
  const typed = () => search.q ?? ''
  const [query, setQuery] = createSignal(typed().trim())
  createEffect(
    on(
      typed,
      (text) => {
        const timer = setTimeout(() => setQuery(text.trim()), SEARCH_AFTER_MS)
        onCleanup(() => clearTimeout(timer))
      },
      { defer: true },
    ),
  )
  const conversations = useConversations(() => (query() === '' ? {} : { q: query() }))
  return (
    <div class="flex h-full min-h-0 flex-col">
      <div class="flex flex-col gap-2 px-3 pt-3 pb-2">
        <Button icon={SquarePen} onClick={() => props.onNew()} class="w-full">
          {t('chat.newChat')}
        </Button>
        <TextField
          type="search"
          label={t('chat.searchConversations')}
          hideLabel
          placeholder={t('common.search')}
          icon={Search}
          value={typed()}
          onValue={(q) => setSearch({ q: q === '' ? undefined : q }, { replace: true })}
        />
      </div>
      <Switch>
        <Match when={conversations.items.length === 0}>
          <NothingYet answer={conversations} compact class="p-3">
            <Show
              when={query() !== ''}
              fallback={
                <EmptyState compact icon={MessageSquare} title={t('chat.noConversations')}>
                  {t('chat.noConversationsWhy')}
                </EmptyState>
              }
            >
              <p role="status" class="px-4 py-3 text-ink-3">
                {t('common.noMatchFor', { query: query() })}
              </p>
            </Show>
          </NothingYet>
        </Match>
        <Match when={true}>
          <VirtualList
            class="min-h-0 flex-1 px-2 pb-2"
            label={t('chat.conversations')}
            items={conversations.items}
            keyOf={(conversation) => conversation.id}
            rowHeight={52}
            onOpen={(conversation) => {
              navigate(`/chat/${conversation.id}${searchPart(search.q)}`)
              props.onOpened?.()
            }}
            onMore={conversations.more}
            hasMore={conversations.hasMore}
            isLoadingMore={conversations.isLoadingMore}
            row={(conversation, isActive) => (
              <ConversationRow
                conversation={conversation}
                avatar={props.agents.find((agent) => agent.id === conversation.agentId)?.avatar ?? null}
                isCurrent={conversation.id === props.currentId}
                isActive={isActive()}
              />
            )}
          />
        </Match>
      </Switch>
    </div>
  )
}

function ConversationRow(props: { conversation: Conversation; avatar: string | null; isCurrent: boolean; isActive: boolean }) {
  const isNews = () => {
    const status = props.conversation.lastJobStatus
    return status !== null && status !== 'completed' && status !== 'cancelled'
  }
  return (
    <div
      aria-current={props.isCurrent ? 'page' : undefined}
      class={`mx-1 flex h-full items-center gap-2.5 rounded-lg px-2 ${props.isCurrent ? 'bg-pressed' : 'hover:bg-hover'} ${props.isActive ? 'in-focus-visible:outline-2 in-focus-visible:-outline-offset-2 in-focus-visible:outline-accent-ink' : ''}`}
    >
      <Avatar name={props.conversation.agentName} text={props.avatar} size="sm" />
      <div class="min-w-0 flex-1">
        <div class={`truncate text-sm ${props.isCurrent ? 'font-medium text-ink' : 'text-ink'}`}>
          {props.conversation.title || t('common.untitled')}
        </div>
        <div class={`flex items-center gap-1 truncate text-xs ${props.isCurrent ? 'text-ink-2' : 'text-ink-3'}`}>
          <span class="truncate">{props.conversation.agentName}</span>
          <span aria-hidden="true">·</span>
          <Time at={props.conversation.updatedAt} />
        </div>
      </div>
      <Show when={isNews() && props.conversation.lastJobStatus}>{(status) => <StatusBadge status={status()} show="icon" />}</Show>
    </div>
  )
}
