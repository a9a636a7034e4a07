import { waitFor } from '@solidjs/testing-library'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LiveEvent, RecordedEvent } from '../../src-runner/contract/events.ts'
import { createFakeRunner } from '../testing/fake-runner.ts'
import { createClient } from './client.ts'
import { type Connection, followEvents } from './events.ts'
import { parseEvent } from './parse-event.ts'

const ID = '00000000-0000-7000-8000-000000000001'
const agentChanged: RecordedEvent = { type: 'agent.changed', payload: { agentId: ID } }

function follow() {
  const runner = createFakeRunner()
  const recorded: RecordedEvent[] = []
  const live: LiveEvent[] = []
  const connections: Connection[] = []
  // Waits end only when the test says so.
  const waits: { ms: number; signal: AbortSignal; end: () => void }[] = []
  const stream = followEvents(
    createClient(runner.fetch),
    { onRecorded: (event) => recorded.push(event), onLive: (event) => live.push(event), onConnection: (next) => connections.push(next) },
    (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, signal, end: resolve })
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
  )
  onTestFinished(stream.stop)
  return { runner, recorded, live, connections, waits, stream }
}

describe('followEvents', () => {
  it('tells recorded and live events apart', async () => {
    const { runner, recorded, live, connections } = follow()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    runner.happen(agentChanged)
    runner.happen({ type: 'job.progress', payload: { jobId: ID, activity: 'tool', detail: 'read_file', until: null } })
    await waitFor(() => expect(live).toHaveLength(1))
    expect(recorded).toEqual([agentChanged])
    expect(live[0]!.payload).toMatchObject({ detail: 'read_file' })
  })

  it('resumes after the last id', async () => {
    const { runner, recorded, connections, waits } = follow()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    runner.happen(agentChanged)
    runner.happen(agentChanged)
    await waitFor(() => expect(recorded).toHaveLength(2))
    runner.breakStreams()
    await waitFor(() => expect(waits).toHaveLength(1))
    expect(connections.at(-1)).toBe('lost')
    waits[0]!.end()
    await waitFor(() => expect(runner.streams).toHaveLength(2))
    expect(runner.streams.map((one) => one.lastEventId)).toEqual([null, '2'])
    await waitFor(() => expect(connections).toEqual(['connecting', 'open', 'lost', 'open']))
  })

  it('waits longer after each failed try, and starts over after a success', async () => {
    const { runner, connections, waits } = follow()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    runner.setReachable(false)
    runner.breakStreams()
    for (let i = 0; i < 6; i++) {
      await waitFor(() => expect(waits).toHaveLength(i + 1))
      waits[i]!.end()
    }
    await waitFor(() => expect(waits).toHaveLength(7))
    const ceilings = [250, 500, 1000, 2000, 4000, 5000, 5000]
    waits.forEach(({ ms }, i) => {
      expect(ms).toBeGreaterThanOrEqual(ceilings[i]! * 0.7)
      expect(ms).toBeLessThanOrEqual(ceilings[i]!)
    })
    runner.setReachable(true)
    waits[6]!.end()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    runner.breakStreams()
    await waitFor(() => expect(waits).toHaveLength(8))
    expect(waits[7]!.ms).toBeLessThanOrEqual(250)
  })

  it('ends a wait when nudged', async () => {
    const { runner, connections, waits, stream } = follow()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    runner.breakStreams()
    await waitFor(() => expect(waits).toHaveLength(1))
    stream.nudge()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
  })

  it('closes the connection when stopped', async () => {
    const { runner, connections, waits, stream } = follow()
    await waitFor(() => expect(connections.at(-1)).toBe('open'))
    stream.stop()
    await waitFor(() => expect(runner.streams[0]!.isOpen).toBe(false))
    expect(waits).toEqual([])
    expect(runner.streams).toHaveLength(1)
  })
})

describe('parseEvent', () => {
  it('ignores unknown and invalid events', () => {
    expect(parseEvent({ event: 'moon.landed', data: '{}' })).toBeNull()
    expect(parseEvent({ event: 'agent.changed', data: '{"agentId":7}' })).toBeNull()
    expect(parseEvent({ event: 'agent.changed', data: 'not json' })).toBeNull()
    expect(parseEvent({ event: 'agent.changed', data: `{"agentId":"${ID}"}` })).toEqual({ kind: 'recorded', event: agentChanged })
  })
})
