import { type Accessor, createSignal } from 'solid-js'
import { useApi } from '../../api/ApiProvider.tsx'
import { pageId } from '../../lib/ids.ts'
import type { SentTurn } from './chat-turns.ts'

export type Chat = {
  /** What was sent in the conversation in front and is not in its record yet. */
  sent: Accessor<SentTurn[]>
  /** A new conversation is being opened: the next message has to wait until it is known which. */
  isOpening: Accessor<boolean>
  send: (agentId: string, text: string) => void
  sendAgain: (turn: SentTurn) => void
  forget: (turn: SentTurn) => void
  /** Leaves what was tried in a new conversation behind. */
  forgetNew: () => void
}

/** Sending: a message is shown at once, and stays with its problem when it could not be handed over. */
export function useChat(conversationId: Accessor<string | null>, onOpened: (conversationId: string) => void): Chat {
  const { turns: streams } = useApi()
  const [turns, setTurns] = createSignal<SentTurn[]>([])
  const change = (localId: string, part: Partial<SentTurn>) =>
    setTurns((all) => all.map((turn) => (turn.localId === localId ? { ...turn, ...part } : turn)))
  const isNew = (turn: SentTurn) => turn.conversationId === null

  async function handOver(turn: SentTurn): Promise<void> {
    change(turn.localId, { problem: null })
    try {
      const begun = await streams.start({ agentId: turn.agentId, message: turn.text, conversationId: turn.conversationId ?? undefined })
      change(turn.localId, begun)
      if (isNew(turn) && conversationId() === null) onOpened(begun.conversationId)
    } catch (thrown) {
      change(turn.localId, { problem: thrown })
    }
  }

  return {
    sent: () => turns().filter((turn) => turn.conversationId === conversationId()),
    isOpening: () => turns().some((turn) => isNew(turn) && turn.problem === null),
    send(agentId, text) {
      const turn: SentTurn = {
        localId: pageId('sent'),
        agentId,
        conversationId: conversationId(),
        jobId: null,
        text,
        at: Date.now(),
        problem: null,
      }
      setTurns((all) => [...all, turn])
      void handOver(turn)
    },
    sendAgain: (turn) => void handOver(turn),
    forget: (turn) => setTurns((all) => all.filter((one) => one.localId !== turn.localId)),
    forgetNew: () => setTurns((all) => all.filter((turn) => !isNew(turn) || turn.problem === null)),
  }
}
