import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js'
import { useApi } from '../../api/ApiProvider.tsx'
import { joinDrafts, keepDraft, moveDraft, readDraft } from '../../lib/drafts.ts'
import { pageId, randomId } from '../../lib/ids.ts'
import { draftOf, type SentTurn } from './chat-turns.ts'

const UNSENT_STORED_AS = 'deckhand.unsent'
type Unsent = Pick<SentTurn, 'conversationId' | 'text'>

export type Chat = {
  /** The turns that this page sent to this conversation. */
  sent: Accessor<SentTurn[]>
  /** The record of the conversation has the turns of these jobs. */
  noteRecorded: (jobIds: ReadonlySet<string>) => void
  /** A new conversation is being created. The next message waits until its id is known. */
  isOpening: Accessor<boolean>
  send: (agentId: string, text: string) => void
  sendAgain: (turn: SentTurn) => void
  /** Puts a failed turn back into the field. */
  edit: (turn: SentTurn) => void
  /** Puts the failed turns of a new conversation back into its field. */
  editNew: () => void
}

/**
 * Sends messages. A message is shown at once, and stays with its error if it could not be sent. When the screen is left or
 * the page reloaded, it waits in the field of its chat.
 */
export function useChat(conversationId: Accessor<string | null>, onOpened: (conversationId: string) => void): Chat {
  const { turns: streams } = useApi()
  const [turns, setTurns] = createSignal<SentTurn[]>([])
  const change = (localId: string, part: Partial<SentTurn>) =>
    setTurns((all) => all.map((turn) => (turn.localId === localId ? { ...turn, ...part } : turn)))
  const isNew = (turn: SentTurn) => turn.conversationId === null
  const putIntoField = ({ conversationId: id, text }: Unsent) => keepDraft(draftOf(id), joinDrafts(text, readDraft(draftOf(id))))
  const edit = (turn: SentTurn) => {
    setTurns((all) => all.filter((one) => one.localId !== turn.localId))
    putIntoField(turn)
  }
  const unsent = () =>
    turns().flatMap(({ conversationId: id, text, problem }): Unsent[] => (problem === null ? [] : [{ conversationId: id, text }]))
  const beforeReload = JSON.parse(sessionStorage.getItem(UNSENT_STORED_AS) ?? '[]') as Unsent[]
  beforeReload.toReversed().forEach(putIntoField)
  // At once, because a phone discards a page without telling it.
  createEffect(() => sessionStorage.setItem(UNSENT_STORED_AS, JSON.stringify(unsent())))
  let isLeft = false
  onCleanup(() => {
    isLeft = true
    unsent().toReversed().forEach(putIntoField)
    sessionStorage.removeItem(UNSENT_STORED_AS)
  })

  async function submit(turn: SentTurn): Promise<void> {
    change(turn.localId, { problem: null })
    try {
      const begun = await streams.start({
        agentId: turn.agentId,
        message: turn.text,
        conversationId: turn.conversationId ?? undefined,
        clientId: turn.clientId,
      })
      change(turn.localId, begun)
      if (isLeft || !isNew(turn) || conversationId() !== null) return
      moveDraft(draftOf(null), draftOf(begun.conversationId))
      onOpened(begun.conversationId)
    } catch (thrown) {
      if (isLeft) putIntoField(turn)
      else change(turn.localId, { problem: thrown })
    }
  }

  return {
    sent: () => turns().filter((turn) => turn.conversationId === conversationId()),
    noteRecorded(jobIds) {
      const isNews = (turn: SentTurn) => !turn.isRecorded && turn.jobId !== null && jobIds.has(turn.jobId)
      setTurns((all) => (all.some(isNews) ? all.map((turn) => (isNews(turn) ? { ...turn, isRecorded: true } : turn)) : all))
    },
    isOpening: () => turns().some((turn) => isNew(turn) && turn.problem === null),
    send(agentId, text) {
      const turn: SentTurn = {
        localId: pageId('sent'),
        clientId: randomId(),
        agentId,
        conversationId: conversationId(),
        jobId: null,
        text,
        at: Date.now(),
        problem: null,
        isRecorded: false,
      }
      setTurns((all) => [...all, turn])
      void submit(turn)
    },
    sendAgain: (turn) => void submit(turn),
    edit,
    editNew: () =>
      turns()
        .filter((turn) => isNew(turn) && turn.problem !== null)
        .toReversed()
        .forEach(edit),
  }
}
