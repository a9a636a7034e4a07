import { describe, expect, it } from 'vitest'
import { createFakeRunner } from '../testing/fake-runner.ts'
import { streamChat, streamJob, type TurnEvent } from './chat-stream.ts'
import { ApiError, createClient } from './client.ts'

const JOB = '00000000-0000-7000-8000-000000000001'
const CONVERSATION = '00000000-0000-7000-8000-000000000002'
const AGENT = '00000000-0000-7000-8000-000000000003'
const START = `event: start\ndata: {"jobId":"${JOB}","conversationId":"${CONVERSATION}"}\n\n`
const DELTA = (text: string) => `event: delta\ndata: {"text":"${text}","seq":1}\n\n`
const DONE = `event: done\ndata: {"reply":"Hello","jobId":"${JOB}","conversationId":"${CONVERSATION}","status":"completed","costUsd":0}\n\n`
const FAILED = `event: error\ndata: {"error":"model_auth","message":"Acme does not accept the key.","detail":{"code":"model_key_refused","params":{"provider":"Acme"}}}\n\n`
const turn = { agentId: AGENT, message: 'Hi' }
const noWait = () => Promise.resolve()

async function collect(events: AsyncIterable<TurnEvent>): Promise<string[]> {
  const seen: string[] = []
  for await (const event of events) seen.push(event.type === 'delta' ? event.text : event.type)
  return seen
}

describe('streamChat', () => {
  it('yields the turn from start to done', async () => {
    const runner = createFakeRunner()
    runner.streamFrames('chatStream', [[START, DELTA('Hel'), DELTA('lo'), DONE]])
    expect(await collect(streamChat(createClient(runner.fetch), turn, new AbortController().signal))).toEqual([
      'start',
      'Hel',
      'lo',
      'done',
    ])
    expect(runner.callsOf('chatStream')[0]!.body).toEqual(turn)
  })

  it('attaches to the job after a break and does not send the turn again', async () => {
    const runner = createFakeRunner()
    runner.streamFrames('chatStream', [[START, DELTA('Hel')]])
    runner.streamFrames('streamJob', [[START], [START, DELTA('Hello'), DONE]])
    const seen = await collect(streamChat(createClient(runner.fetch), turn, new AbortController().signal, noWait))
    expect(seen).toEqual(['start', 'Hel', 'attached', 'start', 'attached', 'start', 'Hello', 'done'])
    expect(runner.callsOf('chatStream')).toHaveLength(1)
    expect(runner.callsOf('streamJob').map((call) => call.params.jobId)).toEqual([JOB, JOB])
  })

  it('yields the error before the end', async () => {
    const runner = createFakeRunner()
    runner.streamFrames('chatStream', [[START, FAILED, DONE.replace('completed', 'failed')]])
    expect(await collect(streamChat(createClient(runner.fetch), turn, new AbortController().signal))).toEqual(['start', 'error', 'done'])
  })

  it('throws when the turn was refused, or may not have begun', async () => {
    const refusing = createClient(() =>
      Promise.resolve(Response.json({ error: 'agent_has_no_model', message: 'No model.' }, { status: 409 })),
    )
    await expect(collect(streamChat(refusing, turn, new AbortController().signal))).rejects.toMatchObject({ code: 'agent_has_no_model' })
    const runner = createFakeRunner()
    runner.streamFrames('chatStream', [[': nothing\n\n']])
    await expect(collect(streamChat(createClient(runner.fetch), turn, new AbortController().signal))).rejects.toBeInstanceOf(ApiError)
  })

  it('ends when its reader aborts', async () => {
    const runner = createFakeRunner()
    runner.streamFrames('chatStream', [[START, DELTA('Hel')]])
    const stop = new AbortController()
    const seen: string[] = []
    for await (const event of streamChat(createClient(runner.fetch), turn, stop.signal, noWait)) {
      seen.push(event.type)
      if (event.type === 'delta') stop.abort()
    }
    expect(seen).toEqual(['start', 'delta'])
    expect(runner.callsOf('streamJob')).toEqual([])
  })
})

describe('streamJob', () => {
  it('follows a job without a conversation', async () => {
    const runner = createFakeRunner()
    runner.streamFrames('streamJob', [
      [START.replace(`"${CONVERSATION}"`, 'null'), DELTA('so far'), DONE.replace(`"${CONVERSATION}"`, 'null')],
    ])
    expect(await collect(streamJob(createClient(runner.fetch), JOB, new AbortController().signal))).toEqual([
      'attached',
      'start',
      'so far',
      'done',
    ])
  })

  it('retries while the runner is away, and throws for a missing job', async () => {
    let tries = 0
    const client = createClient(() => {
      tries++
      return tries < 3
        ? Promise.reject(new TypeError('Failed to fetch'))
        : Promise.resolve(Response.json({ error: 'job_not_found' }, { status: 404 }))
    })
    await expect(collect(streamJob(client, JOB, new AbortController().signal, noWait))).rejects.toMatchObject({ code: 'job_not_found' })
    expect(tries).toBe(3)
  })
})
