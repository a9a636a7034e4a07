import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src-runner/contract/conversations.ts'
import { makeId, makeSummary } from '../../testing/things.ts'
import { chatTurns, type SentTurn } from './chat-turns.ts'

const conversationId = makeId()

function said(jobId: string, role: Message['role'], text: string): Message {
  return { id: makeId(), conversationId, jobId, role, text, createdAt: 1 }
}

function sent(localId: string, fields: Partial<SentTurn> = {}): SentTurn {
  return {
    localId,
    clientId: localId,
    agentId: makeId(),
    conversationId,
    jobId: null,
    text: localId,
    at: 2,
    problem: null,
    isRecorded: false,
    ...fields,
  }
}

describe('a conversation as turns', () => {
  it('puts answers below their messages', () => {
    const [one, two] = [makeSummary(), makeSummary()]
    const turns = chatTurns([said(one.id, 'user', 'A?'), said(one.id, 'assistant', 'A.'), said(two.id, 'user', 'B?')], [two, one], [])
    expect(turns.map(({ text, answers, job }) => [text, answers, job?.id])).toEqual([
      ['A?', ['A.'], one.id],
      ['B?', [], two.id],
    ])
  })

  it('shows a turn whose message is not loaded', () => {
    const job = makeSummary()
    expect(chatTurns([said(job.id, 'assistant', 'A.')], [job], [])[0]).toMatchObject({ text: '', answers: ['A.'] })
  })

  it('keeps the key of a sent message once it is recorded', () => {
    const job = makeSummary({ status: 'running' })
    const before = chatTurns([], [], [sent('s1', { jobId: job.id })])
    const after = chatTurns([said(job.id, 'user', 's1')], [job], [sent('s1', { jobId: job.id })])
    expect(before.map((turn) => turn.key)).toEqual(['s1'])
    expect(after.map((turn) => turn.key)).toEqual(['s1'])
    expect(after[0]!.sent).toBeNull()
  })

  it('leaves out a sent message that was recorded and is no longer among the newest', () => {
    const [old, newest] = [makeSummary(), makeSummary()]
    const turns = chatTurns([said(newest.id, 'user', 'B?')], [newest], [sent('s1', { jobId: old.id, isRecorded: true })])
    expect(turns.map(({ text }) => text)).toEqual(['B?'])
  })

  it('counts the turns ahead, without those that could not be sent', () => {
    const [done, running, waiting] = [makeSummary(), makeSummary({ status: 'running' }), makeSummary({ status: 'pending' })]
    const turns = chatTurns(
      [done, running, waiting].map((job) => said(job.id, 'user', job.status)),
      [done, running, waiting],
      [sent('denied', { problem: new Error('no') }), sent('on its way')],
    )
    expect(turns.map((turn) => [turn.text, turn.waitsBehind])).toEqual([
      ['completed', 0],
      ['running', 0],
      ['pending', 1],
      ['denied', 2],
      ['on its way', 2],
    ])
  })
})
