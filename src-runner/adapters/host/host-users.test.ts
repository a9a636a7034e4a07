import { expect, it } from 'vitest'
import type { FromRunner } from '../../contract/port.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { createHostUsers } from './host-users.ts'

function open() {
  const clock = createHandClock()
  const sent: FromRunner[] = []
  return { clock, sent, users: createHostUsers({ clock, send: (message) => void sent.push(message) }) }
}

it('asks the host for an account', async () => {
  const { users, sent } = open()
  const found = users.resolve({ token: 'abc' })
  expect(sent).toEqual([{ type: 'user.ask', requestId: 1, about: { token: 'abc' } }])
  const user = { userId: 'ada', name: 'Ada', isOwner: true }
  users.answer({ type: 'user.answer', requestId: 1, ok: true, user })
  expect(await found).toEqual(user)
})

it('rejects when the host cannot say it, or does not answer within ten seconds', async () => {
  const { users, clock } = open()
  const failed = users.resolve({ token: 'abc' })
  users.answer({ type: 'user.answer', requestId: 1, ok: false, user: null })
  await expect(failed).rejects.toThrow('could not read')
  const late = users.resolve({ userId: 'ada' })
  clock.advance(10_000)
  await expect(late).rejects.toThrow('in time')
  users.answer({ type: 'user.answer', requestId: 2, ok: true, user: null })
})
