import { existsSync } from 'node:fs'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import { codingRig, listen } from '../../testing/coding-agents/coding-rig.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import type { CodingAnswer, CodingCall, CodingHandlers } from './coding-session.ts'

const { sandbox, isMissing } = await findSandboxHere()
const NONE: SandboxState = { ...sandbox, kind: 'none', works: false, setup: null }

/** To what it asks. Default: none. */
const ANSWERS: Record<string, CodingAnswer> = { '@ask-forever': 'deny', '@ask-and-flood': 'later' }

/** Command lines of this machine that name a folder. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
    .filter((line) => line.includes(folder))
}

describe.skipIf(isMissing)('a coding program', () => {
  it('waits with its request while nobody listens, and is asked again by who comes next', async () => {
    const { session, at } = await codingRig({ sandbox })
    const first = listen(() => 'later')
    const turn = session.prompt('@put before.txt x\n@write a.txt hello\n@say done', first.handlers)
    await expect.poll(() => first.told.asked.length).toBe(1)
    expect(existsSync(at('a.txt'))).toBe(false)
    expect(first.told.text).toBe('')

    const second = listen(() => 'allow')
    expect(session.resume(second.handlers)).toBe(turn)
    expect(await turn).toEqual({ stopReason: 'end_turn', text: 'done' })
    expect(second.told.asked).toEqual(first.told.asked)
    expect(second.told).toMatchObject({ text: 'done' })
    expect(second.told.calls.at(-1)).toMatchObject({ status: 'completed', callId: first.told.asked[0]!.callId })
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('hello')
    expect(session.resume(second.handlers)).toBeNull()
  })

  it('writes nothing when it is refused, and never gets more than one permission', async () => {
    const { session, at } = await codingRig({ sandbox })
    const { told, handlers } = listen(() => 'deny')
    await session.prompt('@write a.txt hello\n@run touch b.txt\n@always-only', handlers)
    expect(existsSync(at('a.txt')) || existsSync(at('b.txt'))).toBe(false)
    expect(told.asked).toHaveLength(3)
    const second = listen(() => 'allow')
    expect((await session.prompt('@always-only', second.handlers)).text).toBe('got nothing')
  })

  it('counts a request as open if whoever answers it fails', async () => {
    const { session } = await codingRig({ sandbox })
    const { told, handlers } = listen()
    const failed = Promise.withResolvers<void>()
    const failing: CodingHandlers = {
      ...handlers,
      async permission() {
        failed.resolve()
        throw new Error('the database is gone')
      },
    }
    const turn = session.prompt('@write a.txt hello', failing)
    await failed.promise
    await expect.poll(() => session.resume(handlers) !== null).toBe(true)
    await turn
    expect(told.asked).toHaveLength(1)
  })

  it('goes on with a session of an earlier process, and does not tell its old text again', async () => {
    const earlier = await codingRig({ sandbox })
    await earlier.session.prompt('@say one', listen().handlers)
    await earlier.session.stop()
    expect(earlier.session.canLoad).toBe(true)
    const { session } = await codingRig({ sandbox, place: earlier.place, loadSessionId: earlier.session.sessionId })
    const { told, handlers } = listen()
    expect((await session.prompt('@turns', handlers)).text).toBe('turn 2: @say one | @turns')
    expect(told.text).not.toContain('earlier')
    await session.stop()
    await expect(codingRig({ sandbox, place: earlier.place, loadSessionId: 'unknown' })).rejects.toMatchObject({ code: 'refused' })
  })

  it('sees no command in a task', async () => {
    const { session, at } = await codingRig({ sandbox })
    await session.prompt('/logout', listen().handlers)
    expect(readFileSync(at('NOTES.md'), 'utf8')).toBe('Task:\n/logout\n')
  })

  it('is described as it is, whatever it sends', async () => {
    const { session, at } = await codingRig({ sandbox })
    const { told, handlers } = listen()
    const { text } = await session.prompt('@garbage\n@strange\n@outside\n@lie lie.txt', handlers)
    expect(text).toBe('refused: true,true')
    expect(told.usage).toBeNull()
    const [strange, ...others] = told.calls as [CodingCall, ...CodingCall[]]
    expect(strange).toMatchObject({ title: 'ab c', kind: 'other', status: 'pending', paths: [] })
    expect(strange.callId).toMatch(/^[0-9a-f]{64}$/)
    const outside = others.find(({ title }) => title === 'Look around')!
    expect(outside.paths).toEqual(['/etc/passwd', at('../../secret'), at('C:\\x')])
    expect(told.calls.find(({ diffs }) => diffs[0]?.path === '/etc/shadow')).toMatchObject({ status: 'completed' })
    expect(told.calls.at(-1)).toMatchObject({ status: 'completed', paths: [at('lie.txt')] })
    expect(existsSync(at('lie.txt'))).toBe(false)
  })

  it.each([
    ['writes text without end', '@flood-text', /too much/],
    ['calls without end', '@flood-calls', /too many/],
    ['writes errors without end', '@flood-errors', /writes too much/],
    ['sends a line of 50 MB', '@huge 50', /writes too much/],
    ['asks without end', '@ask-forever', /too many/],
    ['asks 60 questions at once', '@ask-at-once 60', /asks too much/],
    ['goes on without end while a request is open', '@ask-and-flood', /while a request is open/],
    ['reads no answer', '@deaf', /does not read/],
    ['leaves 300 calls open', '@open-calls 300', /too many calls/],
  ])('is ended when it %s', async (_, script, detail) => {
    const { session } = await codingRig({ sandbox })
    const failed = session.prompt(script, listen(() => ANSWERS[script] ?? new Promise<never>(() => {})).handlers)
    await expect(failed).rejects.toMatchObject({ code: 'ended' })
    expect(await session.ended).toMatchObject({ reason: 'limit', detail: expect.stringMatching(detail) as string })
  })

  it('is ended when its answers cannot be sent', async () => {
    const { session } = await codingRig({ sandbox: NONE })
    const failed = session.prompt('@hang-up', listen(() => 'deny').handlers)
    await expect(failed).rejects.toMatchObject({ code: 'ended' })
    expect(await session.ended).toMatchObject({ reason: 'exited' })
  })

  it('is reported with its last words when it dies in a turn', async () => {
    const { session } = await codingRig({ sandbox })
    const failed = session.prompt('@say half\n@complain out of \u001b[31mcheese\n@die 7', listen().handlers)
    await expect(failed).rejects.toMatchObject({ code: 'ended', detail: 'It ended (exit code 7). out of cheese' })
    expect(await session.ended).toMatchObject({ reason: 'exited' })
    await expect(session.prompt('more', listen().handlers)).rejects.toMatchObject({ code: 'ended' })
  })

  it('ends its turn when it is cancelled, with every open request', async () => {
    const { session } = await codingRig({ sandbox, limits: { cancelMs: 60_000 } })
    const { told, handlers } = listen(() => 'later')
    const turn = session.prompt('@say a\n@write a.txt x', handlers)
    await expect.poll(() => told.asked.length).toBe(1)
    await session.cancel()
    expect(await turn).toEqual({ stopReason: 'cancelled', text: 'a' })
    expect(await session.prompt('@say b', listen().handlers)).toEqual({ stopReason: 'end_turn', text: 'b' })
  })

  it('leaves no repository that starts a program when its turn is over, and the turn says so', async () => {
    const setAside: string[] = []
    const onSetAside = (found: readonly { path: string }[]) => setAside.push(...found.map(({ path }) => path))
    const { session, at } = await codingRig({ sandbox, onSetAside })
    const plant = String.raw`mkdir -p fresh/.git && printf '[core]\n\tfsmonitor = x\n' > fresh/.git/config`
    const { text } = await session.prompt(`@say Done.\n@run ${plant}`, listen().handlers)
    expect(text).toMatch(/^Done\.\n\n\[Renamed, because .*\n.*\/fresh\/\.git is now .*\n\]$/)
    expect(setAside).toEqual([at('fresh/.git')])
    expect(existsSync(at('fresh/.git'))).toBe(false)
    expect(await session.prompt('@say b', listen().handlers)).toEqual({ stopReason: 'end_turn', text: 'b' })
  })

  it('may not say that it ended a cancelled turn by itself', async () => {
    const { session } = await codingRig({ sandbox })
    const { told, handlers } = listen()
    const turn = session.prompt('@say a\n@late', handlers)
    await expect.poll(() => told.text).toBe('a')
    await session.cancel()
    expect((await turn).stopReason).toBe('cancelled')
  })

  it.each([
    ['not signed in', 'signed-out', 'not_signed_in', /Type this in a terminal, then try again: gemini$/],
    ['of an old protocol', 'old', 'too_old', /npm install -g @google\/gemini-cli@latest/],
    ['without the argument', 'unknown-argument', 'too_old', /npm install/],
    ['silent', 'silent', 'no_answer', /did not answer within/],
    ['silent about a session', 'silent-session', 'no_answer', /did not answer within/],
    ['broken', 'die', 'ended', /exit code 3\). cannot find my left foot/],
  ])('that is %s is reported as that', async (_, start, code, words) => {
    const failed = codingRig({ sandbox, env: { SCRIPTED_START: start }, limits: { startMs: code === 'no_answer' ? 1_500 : 60_000 } })
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string })
  })

  it('is not started in a folder that the sandbox cannot guard', async () => {
    await expect(codingRig({ sandbox, folder: '/etc' })).rejects.toMatchObject({ code: 'no_sandbox' })
  })

  it('leaves nothing behind when its start is aborted', async () => {
    const stop = new AbortController()
    const onLog = () => stop.abort(new Error('enough'))
    const opening = codingRig({ sandbox, signal: stop.signal, onLog, env: { SCRIPTED_START: 'silent greet' } })
    await expect(opening).rejects.toThrow('enough')
  })
})

describe.each([
  ['in the sandbox', sandbox, isMissing],
  ['outside', NONE, process.platform !== 'linux'],
])('a coding program that ignores everything, %s', (_, state, skipped) => {
  it.skipIf(skipped)('is ended with its children when its turn is cancelled', async () => {
    const { session, place } = await codingRig({ sandbox: state })
    const { told, handlers } = listen()
    const turn = session.prompt('@ignore-cancel\n@ignore-term\n@child\n@hang', handlers)
    await expect.poll(() => told.text).toMatch(/^child \d+$/)
    expect(processesOf(place.folder)).not.toEqual([])
    await session.cancel()
    expect((await turn).stopReason).toBe('cancelled')
    expect(await session.ended).toMatchObject({ reason: 'stopped' })
    expect(processesOf(place.folder)).toEqual([])
  })
})
