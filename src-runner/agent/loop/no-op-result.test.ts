import { describe, expect, it } from 'vitest'
import { ask, assistant, call, result, runRig, say, tool } from '../../testing/loop-rig.ts'
import type { Tool } from '../tools/tool.ts'

const nothing: Tool = { ...tool('nothing'), noOpText: 'Nothing new.' }
const asked = (name: string) => ({ callId: name, name, args: {} })

describe('a call with a no-op result', () => {
  it('ends the job without another model call', async () => {
    const rig = runRig({ tools: [nothing], turns: [ask(call('a', 'nothing'))] })
    expect(await rig.outcome).toEqual({ kind: 'completed', text: 'Nothing new.', reply: null, noOp: true })
    expect(rig.requests).toHaveLength(1)
    expect(rig.replies).toHaveLength(1)
  })

  it('ends it after the other calls of its reply, in any order', async () => {
    const rig = runRig({ tools: [nothing, tool('look')], turns: [ask(call('a', 'nothing'), call('b', 'look'))] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', noOp: true })
    expect(rig.results.map(({ name }) => name)).toEqual(['nothing', 'look'])
  })

  it.each([
    ['failed', { tools: [nothing, tool('look', { run: () => ({ ok: false, output: 'No.' }) })] }],
    ['was refused', { tools: [nothing, tool('look')], policy: ({ call: { name } }: { call: { name: string } }) => verdictFor(name) }],
    ['does not exist', { tools: [nothing] }],
  ])('does not end it if another call of the reply %s', async (_what, options) => {
    const rig = runRig({ ...options, turns: [ask(call('a', 'nothing'), call('b', 'look')), say('The shelf cannot be seen.')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'The shelf cannot be seen.' })
    expect(await rig.outcome).not.toHaveProperty('noOp')
  })

  it('does not end it if the call itself is refused', async () => {
    const rig = runRig({
      tools: [nothing],
      policy: () => ({ verdict: 'deny', reason: 'a rule says so.' }),
      turns: [ask(call('a', 'nothing')), say('There is something.')],
    })
    expect(await rig.outcome).toMatchObject({ text: 'There is something.' })
  })

  it('ends it without another model call after a crash behind the call', async () => {
    const rig = runRig({ tools: [nothing], transcript: [assistant('', asked('nothing')), result('nothing', 'nothing')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'Nothing new.', noOp: true })
    expect(rig.requests).toHaveLength(0)
  })

  it('ends it after a crash between it and the next call', async () => {
    const transcript = [assistant('', asked('nothing'), asked('look')), result('nothing', 'nothing')]
    const rig = runRig({ tools: [nothing, tool('look')], transcript })
    expect(await rig.outcome).toMatchObject({ noOp: true })
    expect(rig.results.map(({ name }) => name)).toEqual(['look'])
    expect(rig.requests).toHaveLength(0)
  })
})

function verdictFor(name: string) {
  return name === 'look' ? ({ verdict: 'deny', reason: 'a rule says so.' } as const) : ({ verdict: 'run' } as const)
}
