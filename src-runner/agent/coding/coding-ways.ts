import { CODING_PROGRAM_NAMES, type CodingCli } from '../../contract/coding-programs.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { CodingSessionFailed, type CodingEnd } from './coding-session.ts'

/** How one of its programs is started to be talked to. */
export type CodingWay = {
  /** Of the file, without `.exe`. */
  name: string
  protocol: 'acp'
  args: readonly string[]
  env: Readonly<Record<string, string>>
}

type KnownProgram = {
  /** The first that is installed is used. */
  ways: readonly CodingWay[]
  /** Of its own service: its models and its sign-in. */
  hosts: readonly string[]
  /** What a person types to sign in. */
  signIn: string
  update: string
}

const PROGRAMS: Record<CodingCli, KnownProgram> = {
  claude: {
    ways: [
      { name: 'claude-agent-acp', protocol: 'acp', args: [], env: {} },
      { name: 'claude-code-acp', protocol: 'acp', args: [], env: {} },
    ],
    hosts: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com'],
    signIn: 'claude auth login',
    update: 'npm install -g @anthropic-ai/claude-code@latest',
  },
  codex: {
    ways: [{ name: 'codex-acp', protocol: 'acp', args: [], env: {} }],
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
    signIn: 'codex login',
    update: 'npm install -g @openai/codex@latest',
  },
  gemini: {
    ways: [{ name: 'gemini', protocol: 'acp', args: ['--acp'], env: {} }],
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com', 'www.googleapis.com'],
    signIn: 'gemini',
    update: 'npm install -g @google/gemini-cli@latest',
  },
  opencode: {
    ways: [{ name: 'opencode', protocol: 'acp', args: ['acp'], env: {} }],
    // It has no service of its own. These are those that its keys are for most often.
    hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com', 'openrouter.ai'],
    signIn: 'opencode auth login',
    update: 'npm install -g opencode-ai@latest',
  },
}

export function hostsOf(cli: CodingCli): readonly string[] {
  return PROGRAMS[cli].hosts
}

/** How a program is started that has this file name. */
export function wayOf(cli: CodingCli, fileName: string): CodingWay {
  const name = fileName.replace(/\.exe$/i, '')
  const way = PROGRAMS[cli].ways.find((one) => one.name === name)
  if (way === undefined) throw new Error(`${fileName} is no program of ${cli}`)
  return way
}

/** JSON-RPC codes of the protocol. */
const AUTH_REQUIRED = -32_000
const SIGNED_OUT =
  /\b(?:not (?:logged|signed) in|log ?in required|auth(?:entication|orization)? (?:is )?required|please (?:log|sign) ?in|unauthorized|invalid api key|\/login\b)/i
const UNKNOWN_ARGUMENT = /\b(?:unknown|unexpected|unrecognized|invalid) (?:argument|option|command|subcommand|flag)/i

export function signedOut(cli: CodingCli, detail: string): CodingSessionFailed {
  const params = { program: CODING_PROGRAM_NAMES[cli], command: PROGRAMS[cli].signIn }
  return new CodingSessionFailed('not_signed_in', createMessage('coding_not_signed_in', params), detail)
}

export function tooOld(cli: CodingCli, detail: string): CodingSessionFailed {
  const params = { program: CODING_PROGRAM_NAMES[cli], command: PROGRAMS[cli].update }
  return new CodingSessionFailed('too_old', createMessage('coding_too_old', params), detail)
}

export function silent(cli: CodingCli, seconds: number): CodingSessionFailed {
  return new CodingSessionFailed('no_answer', createMessage('coding_no_answer', { program: CODING_PROGRAM_NAMES[cli], seconds }))
}

/** What an error of the program, or its end, means before its session is open. */
export function failureAtStart(cli: CodingCli, thrown: unknown, end: CodingEnd, complaint: string): CodingSessionFailed {
  if (thrown instanceof CodingSessionFailed) return thrown
  if (end.reason !== 'stopped' && UNKNOWN_ARGUMENT.test(complaint)) return tooOld(cli, complaint)
  return failureOf(cli, thrown, end, complaint)
}

/** `end`: null if it still runs. */
export function failureOf(cli: CodingCli, thrown: unknown, end: CodingEnd | null, complaint: string): CodingSessionFailed {
  if (thrown instanceof CodingSessionFailed) return thrown
  const said = cutText(visibleText(messageOf(thrown)), 2_000)
  const program = CODING_PROGRAM_NAMES[cli]
  if (end !== null && end.reason !== 'stopped') {
    const detail = [end.detail, complaint].filter((part) => part !== '').join(' ')
    return new CodingSessionFailed('ended', createMessage('coding_ended', { program, words: quote(cutText(detail, 500)) }), detail)
  }
  if ((thrown as { code?: unknown }).code === AUTH_REQUIRED || SIGNED_OUT.test(said)) return signedOut(cli, said)
  return new CodingSessionFailed('refused', createMessage('coding_refused', { program, words: quote(cutText(said, 500)) }), said)
}
