import { expect, it, vi } from 'vitest'
import type { AskedQuestion } from '../contract/approvals.ts'
import { orAbort } from '../agent/loop/abortable.ts'
import { CallAsks } from '../agent/tools/tool.ts'
import { createParkedCalls, type Ask } from './parked-calls.ts'

const question = (text: string): AskedQuestion => ({ text, choices: [], server: 'Hub' })
const key = { jobId: 'job', callId: 'call' }
const { signal } = new AbortController()

it('hands an answer over to the call that asked, and to no later question', async () => {
  const parked = createParkedCalls<string>()
  const work = vi.fn(async (_: AbortSignal, ask: Ask) => JSON.stringify([await ask(question('1')), await ask(question('2'))]))
  const run = () => parked.run(key, signal, work)
  await expect(run()).rejects.toMatchObject({ question: { text: '1' } })
  const onOver = vi.fn()
  parked.bind(key, 'a1', onOver)
  parked.answer(key, 'other', { answer: 'wrong' })
  parked.answer(key, 'a1', { answer: 'one' })
  await expect(run()).rejects.toMatchObject({ question: { text: '2' } })
  parked.answer(key, 'a1', { answer: 'one' })
  // Its approval was never written, so it is asked again.
  await expect(run()).rejects.toMatchObject({ question: { text: '2' } })
  parked.bind(key, 'a2', onOver)
  parked.answer(key, 'a2', { declined: true })
  expect(await run()).toBe('[{"answer":"one"},{"declined":true}]')
  expect(work).toHaveBeenCalledTimes(1)
  expect(onOver).not.toHaveBeenCalled()
  expect(parked.isUnderWay(key)).toBe(false)
})

it('says when a call ends without its answer, and returns what it ended with', async () => {
  const parked = createParkedCalls<string>()
  const end = Promise.withResolvers<string>()
  const run = () => parked.run(key, signal, (_, ask) => Promise.race([end.promise, ask(question('1')).then(() => 'answered')]))
  await expect(run()).rejects.toBeInstanceOf(CallAsks)
  const over = Promise.withResolvers<void>()
  parked.bind(key, 'a1', over.resolve)
  end.resolve('without')
  await over.promise
  expect(await run()).toBe('without')
})

it('ends the calls of a job that has ended, and those of an attempt that stops', async () => {
  const parked = createParkedCalls<string>()
  const reasons: string[] = []
  const work = (own: AbortSignal, ask: Ask) => {
    own.addEventListener('abort', () => reasons.push((own.reason as Error).message))
    return ask(question('1')).then(() => 'x')
  }
  await expect(parked.run(key, signal, work)).rejects.toBeInstanceOf(CallAsks)
  parked.endJob('job')
  expect([reasons, parked.isUnderWay(key)]).toEqual([['The job has ended.'], false])
  const stop = new AbortController()
  const waiting = parked.run(key, stop.signal, (own) => orAbort(new Promise(() => {}), own))
  stop.abort(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
})

it('keeps a bounded number of questions open', async () => {
  const parked = createParkedCalls<string>()
  const run = (n: number) =>
    parked.run({ jobId: 'job', callId: `${n}` }, signal, (_, ask) => ask(question('1')).then((given) => JSON.stringify(given)))
  for (let n = 0; n < 20; n++) await expect(run(n)).rejects.toBeInstanceOf(CallAsks)
  expect(await run(20)).toBe('null')
})
