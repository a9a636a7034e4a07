import { useNavigate, useParams, useSearchParams } from '@solidjs/router'
import { createEffect, createSignal, on } from 'solid-js'
import { useAgents } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { ChatPane } from './ChatPane.tsx'
import { ConversationList } from './ConversationList.tsx'
import { NEW_CHAT } from './new-chat.ts'
import { useChat } from './use-chat.ts'

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
  const [openCount, setOpenCount] = createSignal(0)
  // `?write=1` puts the cursor into the field, also when the chat is open already.
  createEffect(
    on(
      () => search.write,
      (write) => {
        if (write === undefined) return
        setOpenCount((count) => count + 1)
        setSearch({ write: undefined }, { replace: true })
      },
    ),
  )
  const opened = () => `${conversationId()} ${search.agent} ${openCount()}`
  const startNew = () => {
    chat.editNew()
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
      <ChatPane
        conversationId={conversationId()}
        urlAgentId={search.agent ?? null}
        opened={opened()}
        agents={agents}
        chat={chat}
        onList={() => setListOpen(true)}
        onNew={startNew}
      />
    </div>
  )
}
