import { describe, expect, it } from 'vitest'
import { ask, call, runRig, say, text, tool, type Rig, type RigOptions, type Turn } from '../../testing/loop-rig.ts'
import type { PromptMessage } from '../providers/model.ts'
import { StaleClaimError } from '../../lib/errors.ts'

/** What is on disk after any number of attempts: all that the next one knows. */
type Disk = { transcript: PromptMessage[]; started: Set<string>; writes: number }

const parallel = (name: string, effects: string[]) => tool(name, { parallel: true, run: () => ran(name, effects) })
const ran = (name: string, effects: string[]) => {
  effects.push(name)
  return { ok: true, output: `${name} ran` }
}

/** What the model answers depends on what it reads, as with a real one: a reply that was lost is given again. */
const SCRIPT: Turn[] = [
  [text('Looking.'), ...ask(call('a', 'look'), call('b', 'find'), call('c', 'look'))],
  [text('Sending.'), ...ask(call('d', 'send'), call('e', 'look'), call('f', 'pay'))],
  [text('Keeping.'), ...ask(call('g', 'keep'))],
  say('Done.'),
]

function toolsFor(effects: string[]) {
  return [
    parallel('look', effects),
    parallel('find', effects),
    tool('send', { effect: 'once', run: () => ran('send', effects) }),
    tool('pay', { effect: 'once', run: () => ran('pay', effects) }),
    tool('keep', { effect: 'idempotent', run: () => ran('keep', effects) }),
  ]
}

/** One attempt from what is on disk. It dies at write number `dieAt`, which never reaches the disk. */
async function attempt(disk: Disk, effects: string[], dieAt: number): Promise<{ rig: Rig; disk: Disk }> {
  const turnsDone = disk.transcript.filter((m) => m.role === 'assistant').length
  let written = 0
  const options: RigOptions = {
    tools: toolsFor(effects),
    turns: SCRIPT.slice(turnsDone),
    transcript: disk.transcript,
    startedCallIds: [...disk.started],
    loseClaimAt: () => ++written >= dieAt,
  }
  const rig = runRig(options)
  await rig.outcome.catch((thrown: unknown) => {
    if (!(thrown instanceof StaleClaimError)) throw thrown
  })
  return { rig, disk: afterwards(disk, rig) }
}

function afterwards(disk: Disk, rig: Rig): Disk {
  const results = new Map(
    rig.results.map((r) => [r.callId, { role: 'tool', callId: r.callId, name: r.name, output: r.output, ok: r.ok } as const]),
  )
  const replies: PromptMessage[] = rig.replies.map((r) => ({ role: 'assistant', text: r.text, toolCalls: r.toolCalls }))
  const all = [...disk.transcript, ...replies]
  const known = new Map(disk.transcript.flatMap((m) => (m.role === 'tool' ? [[m.callId, m] as const] : [])))
  const transcript = all.flatMap((m): PromptMessage[] =>
    m.role === 'assistant' ? [m, ...m.toolCalls.flatMap(({ callId }) => results.get(callId) ?? known.get(callId) ?? [])] : [],
  )
  const ended = new Set([...results.keys(), ...known.keys()])
  const started = new Set([...disk.started, ...rig.started].filter((callId) => !ended.has(callId)))
  return { transcript, started, writes: disk.writes + rig.replies.length + rig.results.length + rig.started.length }
}

const WRITES = 3 + 7 + 2

describe('a job whose process dies', () => {
  const fresh: Disk = { transcript: [], started: new Set(), writes: 0 }

  it('makes twelve writes without a crash', async () => {
    const effects: string[] = []
    const { rig, disk } = await attempt(fresh, effects, Number.POSITIVE_INFINITY)
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'Done.' })
    expect(disk.writes).toBe(WRITES)
    expect([...effects].sort()).toEqual(['find', 'keep', 'look', 'look', 'look', 'pay', 'send'])
  })

  const moments = Array.from({ length: WRITES }, (_, i) => i + 1)
  it.each(moments.flatMap((first) => moments.map((second) => [first, second] as const)))(
    'at write %i, then at write %i, still comes to the same end',
    async (first, second) => {
      const effects: string[] = []
      const one = await attempt(fresh, effects, first)
      const two = await attempt(one.disk, effects, second)
      const last = await attempt(two.disk, effects, Number.POSITIVE_INFINITY)
      expect(await last.rig.outcome).toMatchObject({ kind: 'completed', text: 'Done.' })
      // Nothing that may happen once happened twice, whatever the moment.
      expect(effects.filter((e) => e === 'send').length).toBeLessThanOrEqual(1)
      expect(effects.filter((e) => e === 'pay').length).toBeLessThanOrEqual(1)
      // Every call has exactly one result, in its place.
      const { transcript } = last.disk
      expect(transcript.map((m) => (m.role === 'assistant' ? m.text : m.role === 'tool' ? m.callId : '')).join(' ')).toBe(
        'Looking. a b c Sending. d e f Keeping. g',
      )
      // A once-call without an effect says that its outcome is unknown; one with an effect says so or was recorded.
      for (const [callId, name] of [
        ['d', 'send'],
        ['f', 'pay'],
      ] as const) {
        const result = transcript.find((m) => m.role === 'tool' && m.callId === callId)
        if (!effects.includes(name)) expect(result).toMatchObject({ ok: false, output: expect.stringContaining('The outcome is unknown') })
      }
    },
  )
})
