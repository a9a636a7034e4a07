import { useQueryClient } from '@tanstack/solid-query'
import { type Accessor, createSignal } from 'solid-js'
import { useApi } from './ApiProvider.tsx'
import type { CallAnswer } from './client.ts'
import { type Loaded, useRoute } from './observe.ts'
import { toastError } from './toast-error.ts'

type Part = CallAnswer<'getConversation'>

/** How far back a conversation is shown: to this message. `before`: the cursor of the messages before it. */
type Start = { conversationId: string; messageId: string; before: string | null }

export type LongConversation = {
  answer: Loaded<Part>
  hasEarlier: Accessor<boolean>
  isLoadingEarlier: Accessor<boolean>
  loadEarlier: () => Promise<void>
}

/** A conversation: its newest messages, and the earlier ones that the person asked for. */
export function useConversation(conversationId: Accessor<string | null>): LongConversation {
  const { client } = useApi()
  const queries = useQueryClient()
  const [isLoadingEarlier, setLoadingEarlier] = createSignal(false)
  let start: Start | null = null
  const request = () => {
    const id = conversationId()
    return id === null ? null : { params: { conversationId: id } }
  }
  const readBefore = ({ conversation: { id } }: Part, before: string) =>
    client.call('getConversation', { params: { conversationId: id }, query: { before } })

  const answer = useRoute('getConversation', request, {
    grows: {
      after: () => ({}),
      // Earlier messages are read again too: so they meet the newest ones without a gap, and the state of their jobs is current.
      async join(_held, newest) {
        let read = newest
        for (;;) {
          const shown = start
          if (shown?.conversationId !== read.conversation.id) return read
          const first = read.messages.findIndex(({ id }) => id === shown.messageId)
          if (first !== -1) return { ...read, messages: read.messages.slice(first), nextCursor: shown.before }
          if (read.nextCursor === null) return read
          read = joinParts(await readBefore(read, read.nextCursor), read)
        }
      },
    },
  })

  async function loadEarlier(): Promise<void> {
    const queryKey = ['getConversation', request()]
    const held = queries.getQueryData<Part>(queryKey)
    const first = held?.messages[0]
    if (held?.nextCursor == null || first === undefined || isLoadingEarlier()) return
    // From now on a refetch reads back to here, also while the earlier messages are on their way.
    start = { conversationId: held.conversation.id, messageId: first.id, before: held.nextCursor }
    setLoadingEarlier(true)
    try {
      const earlier = await readBefore(held, held.nextCursor)
      const now = queries.getQueryData<Part>(queryKey)
      if (now?.messages[0]?.id !== first.id) return
      const joined = joinParts(earlier, now)
      start = { ...start, messageId: joined.messages[0]!.id, before: joined.nextCursor }
      queries.setQueryData<Part>(queryKey, joined)
      // A refetch that is under way may not have read back this far.
      if (queries.isFetching({ queryKey, exact: true }) > 0) void queries.invalidateQueries({ queryKey, exact: true })
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setLoadingEarlier(false)
    }
  }

  return { answer, hasEarlier: () => answer.data?.nextCursor != null, isLoadingEarlier, loadEarlier }
}

/** One turn may be in both parts: its question in the earlier, its answer in the later one. */
function joinParts(earlier: Part, later: Part): Part {
  const known = new Set(later.jobs.map(({ id }) => id))
  return {
    ...later,
    messages: [...earlier.messages, ...later.messages],
    jobs: [...earlier.jobs.filter(({ id }) => !known.has(id)), ...later.jobs],
    nextCursor: earlier.nextCursor,
  }
}
