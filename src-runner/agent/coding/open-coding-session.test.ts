import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import { codingRig, listen } from '../../testing/coding-agents/coding-rig.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'

const { sandbox, isMissing } = await findSandboxHere()
const NONE: SandboxState = { ...sandbox, kind: 'none', works: false, setup: null }

describe.each([
  ['in the sandbox', sandbox, isMissing],
  ['outside', NONE, process.platform === 'win32'],
])('a coding program %s', (_, state, skipped) => {
  it.skipIf(skipped)('writes files after it was allowed to, and tells what it does', async () => {
    const { session, at } = await codingRig({ sandbox: state })
    const { told, handlers } = listen()
    const turn = await session.prompt(
      '@think Hm.\n@say Hello\n@write notes/a.txt one\\ntwo\n@run echo ran; exit 3\n@usage 1200 300 0.25 800',
      handlers,
    )
    expect(turn).toEqual({ stopReason: 'end_turn', text: 'Hello' })
    expect(told).toMatchObject({
      text: 'Hello',
      thinking: 'Hm.',
      usage: { inputTokens: 2_000, cachedTokens: 800, outputTokens: 300, costUsd: 0.25 },
    })
    expect(await readFile(at('notes/a.txt'), 'utf8')).toBe('one\ntwo')
    const path = at('notes/a.txt')
    expect(told.asked).toMatchObject([
      { kind: 'edit', paths: [path], diffs: [{ path, before: null, after: 'one\ntwo' }] },
      { kind: 'execute', command: 'echo ran; exit 3' },
    ])
    expect(told.calls.at(-1)).toMatchObject({ kind: 'execute', status: 'failed', exitCode: 3, output: 'ran\n' })
  })
})

it.skipIf(isMissing)('starts Claude so that a command runs in the folder of the session, whatever the one before it did', async () => {
  const { session } = await codingRig({ sandbox, cli: 'claude', name: 'claude-agent-acp' })
  const { text } = await session.prompt('@variable CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR', listen().handlers)
  expect(text).toBe('CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR=1')
})

it.skipIf(isMissing)('reads commands and usage as Gemini CLI sends them, and adds up the turns', async () => {
  const { session } = await codingRig({ sandbox })
  const { told, handlers } = listen(() => 'deny')
  await session.prompt('@ask-by-title rm -rf build', handlers)
  expect(told.asked).toMatchObject([{ kind: 'execute', command: 'rm -rf build' }])
  expect(told.usage).toMatchObject({ inputTokens: 70, outputTokens: 8, model: 'gemini-test' })
  await session.prompt('@say more', handlers)
  expect(told.usage).toMatchObject({ inputTokens: 140, outputTokens: 16 })
})
