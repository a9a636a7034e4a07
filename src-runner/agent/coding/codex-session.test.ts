import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codingRig, listen } from '../../testing/coding-agents/coding-rig.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { asksBeforeItActs } from './coding-ways.ts'

const { sandbox, isMissing } = await findSandboxHere()
const open = (more: Partial<Parameters<typeof codingRig>[0]> = {}) => codingRig({ sandbox, name: 'codex', ...more })

describe.skipIf(isMissing)('Codex over its JSON stream', () => {
  it('tells what it writes, runs and uses', async () => {
    const { session, at } = await open()
    const { told, handlers } = listen()
    const turn = await session.prompt(
      '@garbage\n@think Hm.\n@say One\n@write a.txt hello\n@run echo ran; exit 3\n@search cats\n@say Two',
      handlers,
    )
    expect(turn).toEqual({ stopReason: 'end_turn', text: 'One\n\nTwo' })
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('hello')
    expect(told).toMatchObject({ thinking: 'Hm.', asked: [], usage: { inputTokens: 100, cachedTokens: 40, outputTokens: 7 } })
    expect(told.calls).toMatchObject([
      { kind: 'edit', paths: [at('a.txt')], status: 'completed' },
      { kind: 'execute', command: 'echo ran; exit 3', status: 'in_progress', output: null },
      { kind: 'execute', command: 'echo ran; exit 3', status: 'failed', output: 'ran\n', exitCode: 3 },
      { kind: 'fetch', title: 'cats', status: 'completed' },
    ])
  })

  it('goes on with its session in another process', async () => {
    const { session, place } = await open()
    expect([session.sessionId, session.canLoad]).toEqual(['', false])
    await session.prompt('@say a', listen().handlers)
    expect(session.canLoad).toBe(true)
    await session.ended
    await expect(session.prompt('@say more', listen().handlers)).rejects.toMatchObject({ code: 'ended' })
    const second = await open({ place, loadSessionId: session.sessionId })
    expect((await second.session.prompt('@turns', listen().handlers)).text).toBe('@say a;@turns;')
    await expect(open({ loadSessionId: '--last' })).rejects.toMatchObject({ code: 'refused' })
    const third = await open({ loadSessionId: session.sessionId })
    await expect(third.session.prompt('@say a', listen().handlers)).rejects.toMatchObject({ code: 'refused' })
  })

  it('ends its turn when it is cancelled', async () => {
    const { session } = await open()
    const { told, handlers } = listen()
    const turn = session.prompt('@say a\n@hang', handlers)
    await expect.poll(() => told.text).toBe('a')
    await session.cancel()
    expect(await turn).toEqual({ stopReason: 'cancelled', text: 'a' })
    expect(await session.ended).toMatchObject({ reason: 'stopped' })
  })

  it.each([
    ['signed out', '@fail unexpected status 401 Unauthorized: Missing bearer', { code: 'not_signed_in' }],
    ['over its quota', '@fail You have hit your usage limit.', { code: 'refused', detail: 'You have hit your usage limit.' }],
    ['dead', '@reconnect\n@die 9', { code: 'ended' }],
  ])('reports that it is %s', async (_, script, failure) => {
    const { session } = await open()
    await expect(session.prompt(script, listen().handlers)).rejects.toMatchObject(failure)
  })

  it('runs in the sandbox only, since it never asks', async () => {
    expect([asksBeforeItActs('codex', '/x/codex'), asksBeforeItActs('codex', '/x/codex-acp')]).toEqual([false, true])
    await expect(open({ sandbox: { ...sandbox, kind: 'none', works: false, setup: null } })).rejects.toMatchObject({ code: 'no_sandbox' })
  })
})
