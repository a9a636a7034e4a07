import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CodingAnswer, CodingCall, CodingHandlers, CodingSessionOptions, CodingUsage } from '../../agent/coding/coding-session.ts'
import { openCodingSession } from '../../agent/coding/open-coding-session.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemPrograms } from '../../platform/programs/user-toolchain.ts'
import { scratchFolder } from '../scratch-folder.ts'
import { installScriptedAgent } from './install-scripted-agent.ts'

export type Told = { text: string; thinking: string; calls: CodingCall[]; usage: CodingUsage | null; asked: CodingCall[] }

/** Handlers that note what a session tells. `answer`: to its requests. */
export function listen(answer: (request: CodingCall) => CodingAnswer | Promise<CodingAnswer> = () => 'allow') {
  const told: Told = { text: '', thinking: '', calls: [], usage: null, asked: [] }
  const handlers: CodingHandlers = {
    text: (delta) => void (told.text += delta),
    thinking: (delta) => void (told.thinking += delta),
    toolCall: (call) => void told.calls.push(call),
    usage: (usage) => void (told.usage = usage),
    async permission(request) {
      told.asked.push(request)
      return answer(request)
    },
  }
  return { told, handlers }
}

export type CodingPlace = { programs: string; folder: string; home: string }

async function makePlace(): Promise<CodingPlace> {
  const base = await scratchFolder()
  const place = { programs: base.at('programs'), folder: base.at('Work'), home: base.at('home') }
  await Promise.all(Object.values(place).map((path) => mkdir(path)))
  return place
}

type RigOptions = Partial<CodingSessionOptions> & Pick<CodingSessionOptions, 'sandbox'> & { place?: CodingPlace; name?: string }

/** A session with the scripted program, ended after the test. */
export async function codingRig({ place: given, name = 'gemini', ...options }: RigOptions) {
  const place = given ?? (await makePlace())
  const session = await openCodingSession({
    cli: name === 'claude' || name === 'codex' ? name : 'gemini',
    program: await installScriptedAgent(place.programs, name),
    folder: place.folder,
    writable: [place.folder, place.home],
    readable: [place.programs],
    closed: [],
    programs: systemPrograms(),
    internet: false,
    onLog: () => {},
    onSetAside: () => {},
    signal: new AbortController().signal,
    clock: systemClock,
    ...options,
    env: { HOME: place.home, ...options.env },
  })
  onTestFinished(() => session.stop())
  return { session, place, at: (path: string) => join(place.folder, path) }
}
