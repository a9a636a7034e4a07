import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChannelStatus } from '../../contract/channels.ts'
import { failed, openOutboxRig, SENT, turn, type Try } from '../../testing/outbox-rig.ts'
import { walkRuns } from '../../testing/walk-runs.ts'

const MINUTE = 60_000

/** Numbers choose a channel, a chat or a waiting try. */
const Happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), channel: fc.nat(1), chat: fc.nat(1) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), n: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take_and_die' as const), n: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fail' as const), n: fc.nat(3), permanent: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask_to_wait' as const), n: fc.nat(3), minutes: fc.nat(90) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('part' as const), n: fc.nat(3), parts: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('status' as const),
      channel: fc.nat(1),
      status: fc.constantFrom<ChannelStatus>('open', 'open', 'failing', 'off', 'logged_out', 'connecting'),
    }),
  },
)
type Happening = typeof Happening extends fc.Arbitrary<infer T> ? T : never

it('ends every message, sends no recorded part twice and keeps the order of each chat, over any sequence of faults', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Happening, { minLength: 10, maxLength: 60 }), async (happenings) => {
      const rig = openOutboxRig()
      try {
        const channels = [rig.addChannel(), rig.addChannel()]
        /** In the order in which they were written. */
        const written: string[] = []
        /** What people have received, by chat. */
        const got = new Map<string, string[]>()
        /** For each message, the crashes after the service accepted it and before that was recorded. */
        const forgotten = new Map<string, number>()
        /** For each message, the parts that were reported as sent. */
        const parts = new Map<string, number>()
        let waiting: Try[] = []
        let seen = 0

        const settle = async () => {
          await turn()
          for (const { message } of rig.tries.slice(seen)) expect(message.partsSent).toBe(parts.get(message.id) ?? 0)
          waiting.push(...rig.tries.slice(seen))
          seen = rig.tries.length
          // A try that took too long was interrupted.
          waiting = waiting.filter(({ signal }) => !signal.aborted)
          const chats = waiting.map(({ message }) => message.channelId)
          expect(new Set(chats).size, 'a channel sends one message at a time').toBe(chats.length)
        }
        const pick = (n: number): Try | undefined => {
          const chosen = waiting[n % Math.max(waiting.length, 1)]
          waiting = waiting.filter((one) => one !== chosen)
          return chosen
        }
        const arrive = ({ message }: Try) => {
          const chat = `${message.channelId}/${message.chatId}`
          got.set(chat, [...(got.get(chat) ?? []), message.id])
        }
        const crash = () => {
          waiting = []
          rig.crash()
        }
        const act = async (one: Happening): Promise<void> => {
          if (one.do === 'write') {
            written.push(rig.write(channels[one.channel]!, `chat ${one.chat}`, `${written.length}`))
          } else if (one.do === 'take') {
            const chosen = pick(one.n)
            if (chosen !== undefined) arrive(chosen)
            chosen?.answer(SENT)
          } else if (one.do === 'take_and_die') {
            const chosen = pick(one.n)
            if (chosen === undefined) return
            arrive(chosen)
            forgotten.set(chosen.message.id, (forgotten.get(chosen.message.id) ?? 0) + 1)
            crash()
          } else if (one.do === 'fail') {
            pick(one.n)?.answer(failed({ permanent: one.permanent }))
          } else if (one.do === 'ask_to_wait') {
            pick(one.n)?.answer(failed({ retryAfterMs: one.minutes * MINUTE }))
          } else if (one.do === 'part') {
            const chosen = waiting[one.n % Math.max(waiting.length, 1)]
            if (chosen === undefined) return
            chosen.part(one.parts)
            parts.set(chosen.message.id, Math.max(parts.get(chosen.message.id) ?? 0, one.parts))
          } else if (one.do === 'pass') {
            rig.clock.advance(one.minutes * MINUTE)
          } else if (one.do === 'crash') {
            crash()
          } else if (one.do === 'stop') {
            waiting = []
            await rig.sender.stop({ graceMs: 0 })
            rig.crash()
          } else {
            rig.setStatus(channels[one.channel]!, one.status)
          }
        }

        for (const happening of happenings) {
          await act(happening)
          await settle()
        }
        // From here on the service accepts nothing and time passes.
        for (let i = 0; i < 60; i++) {
          for (const one of waiting.splice(0)) one.answer(failed())
          rig.clock.advance(30 * MINUTE)
          await settle()
        }

        const states = new Map(written.map((id) => [id, rig.read(id).state]))
        expect([...states.values()].filter((state) => state === 'pending')).toEqual([])
        for (const [id, state] of states) {
          const times = [...got.values()].flat().filter((other) => other === id).length
          expect(times).toBeLessThanOrEqual(1 + (forgotten.get(id) ?? 0))
          if (state === 'sent') expect(times).toBeGreaterThan(0)
          if (times > (forgotten.get(id) ?? 0)) expect(state).toBe('sent')
        }
        for (const ids of got.values()) {
          const places = ids.map((id) => written.indexOf(id))
          expect(places).toEqual([...places].sort((a, b) => a - b))
        }
        await rig.sender.stop({ graceMs: 0 })
      } finally {
        rig.close()
      }
    }),
    { numRuns: walkRuns(20, 3) },
  )
})
