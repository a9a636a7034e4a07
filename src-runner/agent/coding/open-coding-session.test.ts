import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import { systemPrograms } from '../../platform/programs/user-toolchain.ts'
import { installScriptedAgent } from '../../testing/coding-agents/install-scripted-agent.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import type { CodingAnswer, CodingCall, CodingSessionOptions } from './coding-session.ts'
import { openCodingSession } from './open-coding-session.ts'

const { sandbox, isMissing } = await findSandboxHere()
const NONE: SandboxState = { ...sandbox, kind: 'none', works: false, setup: null }

type Told = { text: string; thinking: string; calls: CodingCall[]; usage: unknown; asked: CodingCall[] }

/** What a session tells, and how permission is answered. */
function listen(answer: (request: CodingCall) => CodingAnswer = () => 'allow') {
  const told: Told = { text: '', thinking: '', calls: [], usage: null, asked: [] }
  const handlers = {
    text: (delta: string) => void (told.text += delta),
    thinking: (delta: string) => void (told.thinking += delta),
    toolCall: (call: CodingCall) => void told.calls.push(call),
    usage: (usage: unknown) => void (told.usage = usage),
    permission: async (request: CodingCall) => {
      told.asked.push(request)
      return answer(request)
    },
  }
  return { told, handlers }
}

async function place() {
  const base = await scratchFolder()
  const [programs, folder, home] = [base.at('programs'), base.at('Work'), base.at('home')]
  await Promise.all([programs, folder, home].map((path) => mkdir(path)))
  return { base, programs, folder, home }
}

async function open(options: Partial<CodingSessionOptions> & { at?: Awaited<ReturnType<typeof place>> } = {}) {
  const { at = await place(), ...more } = options
  const logged: string[] = []
  const session = await openCodingSession({
    cli: 'gemini',
    program: await installScriptedAgent(at.programs, 'gemini'),
    ...{ folder: at.folder, sandbox, programs: systemPrograms(), writable: [at.folder, at.home], readable: [at.programs], closed: [] },
    ...{ internet: false, onLog: (text) => void logged.push(text), signal: new AbortController().signal, clock: systemClock },
    ...more,
    env: { HOME: at.home, ...more.env },
  })
  onTestFinished(() => session.stop())
  return { session, at, logged, inFolder: (path: string) => readFile(join(at.folder, path), 'utf8') }
}

describe.each([
  ['in the sandbox', sandbox, isMissing],
  ['outside', NONE, process.platform === 'win32'],
])('a coding program %s', (_, state, skipped) => {
  it.skipIf(skipped)('writes files after it was allowed to, and tells what it does', async () => {
    const { session, inFolder, at } = await open({ sandbox: state })
    const { told, handlers } = listen()
    const turn = await session.prompt(
      '@think Hm.\n@say Hello\n@write notes/a.txt one\\ntwo\n@run echo ran; exit 3\n@usage 1200 300 0.25',
      handlers,
    )
    expect(turn).toEqual({ stopReason: 'end_turn', text: 'Hello' })
    expect(told).toMatchObject({ text: 'Hello', thinking: 'Hm.', usage: { inputTokens: 1_200, outputTokens: 300, costUsd: 0.25 } })
    expect(await inFolder('notes/a.txt')).toBe('one\ntwo')
    const path = join(at.folder, 'notes/a.txt')
    expect(told.asked).toMatchObject([
      { kind: 'edit', paths: [path], diffs: [{ path, before: null, after: 'one\ntwo' }] },
      { kind: 'execute', command: 'echo ran; exit 3' },
    ])
    expect(told.calls.at(-1)).toMatchObject({ kind: 'execute', status: 'failed', exitCode: 3, output: 'ran\n' })
  })
})
