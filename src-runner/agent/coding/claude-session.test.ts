import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codingRig, listen } from '../../testing/coding-agents/coding-rig.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'

const { sandbox, isMissing } = await findSandboxHere()
const open = (more: Partial<Parameters<typeof codingRig>[0]> = {}) => codingRig({ sandbox, name: 'claude', ...more })

describe.skipIf(isMissing)('Claude Code over its JSON stream', () => {
  it('writes files and runs commands after it was allowed to, and tells what they cost', async () => {
    const { session, at } = await open()
    const { told, handlers } = listen()
    const turn = await session.prompt(
      '@think Hm.\n@say One\n@aside inner\n@write a.txt hello you\n@run echo ran; exit 3\n@say Two',
      handlers,
    )
    expect(turn).toEqual({ stopReason: 'end_turn', text: 'One\n\nTwo' })
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('hello you')
    expect(told.thinking).toBe('Hm.')
    expect(told.usage).toEqual({ inputTokens: 60, cachedTokens: 30, outputTokens: 5, costUsd: 0.25, model: 'claude-test' })
    expect(told.asked).toMatchObject([
      { kind: 'edit', paths: [at('a.txt')], diffs: [{ path: at('a.txt'), before: null, after: 'hello you' }] },
      { kind: 'execute', title: 'echo ran; exit 3', command: 'echo ran; exit 3' },
    ])
    expect(told.calls.at(-1)).toMatchObject({ status: 'failed', exitCode: 3, output: 'Exit code 3\nran\n' })
    await session.prompt('@say Three', handlers)
    expect(told.usage).toMatchObject({ inputTokens: 120, costUsd: 0.5 })
  })

  it('is refused, and gets no hook, server or dialog of ours', async () => {
    const { session, at } = await open()
    const { told, handlers } = listen(() => 'deny')
    const { text } = await session.prompt('@garbage\n@write a.txt no\n@hook', handlers)
    expect(existsSync(at('a.txt'))).toBe(false)
    expect(told.calls.at(-1)).toMatchObject({ status: 'failed', output: 'This was not allowed.' })
    expect(text).toBe('error')
  })

  it('ends its turn when it is cancelled while it asks, and goes on in another process', async () => {
    const { session, place } = await open()
    const { told, handlers } = listen(() => 'later')
    const turn = session.prompt('@say a\n@write a.txt x', handlers)
    await expect.poll(() => told.asked.length).toBe(1)
    await session.cancel()
    expect(await turn).toEqual({ stopReason: 'cancelled', text: 'a' })
    await session.stop()
    const second = await open({ place, loadSessionId: session.sessionId })
    expect((await second.session.prompt('@turns', listen().handlers)).text).toBe('@say a;@turns;')
  })

  it.each([
    ['a session that it does not have', '00000000-0000-4000-8000-000000000000', 'refused', /Session not found/],
    ['a session whose name is an argument', '--dangerously-skip-permissions', 'refused', /Session not found/],
  ])('does not go on with %s', async (_, loadSessionId, code, words) => {
    await expect(open({ loadSessionId })).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string })
  })

  it.each([
    ['not signed in', '@sign-out', { code: 'not_signed_in', message: expect.stringMatching(/claude auth login$/) as string }],
    ['overloaded', '@overloaded', { code: 'refused', detail: 'API Error: 529 Overloaded' }],
    ['dead', '@die 9', { code: 'ended' }],
  ])('reports that it is %s', async (_, script, failure) => {
    const { session } = await open()
    await expect(session.prompt(script, listen().handlers)).rejects.toMatchObject(failure)
  })

  it('ends with its limit of turns as with a turn that is over', async () => {
    const { session } = await open()
    expect((await session.prompt('@max-turns', listen().handlers)).stopReason).toBe('max_turns')
  })
})
