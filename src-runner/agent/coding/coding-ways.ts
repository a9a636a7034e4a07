import { basename } from 'node:path'
import { CODING_PROGRAM_NAMES, type CodingCli } from '../../contract/coding-programs.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { findTrustedProgram } from '../../platform/programs/trusted-program.ts'
import { CodingSessionFailed, type CodingEnd } from './coding-session.ts'

/** How to start one of its programs for a session. */
export type CodingWay = {
  /** The file name without `.exe`. */
  name: string
  protocol: 'acp' | 'claude' | 'codex'
  args: readonly string[]
  /** The mode in which it asks before it changes anything or runs a command. It is set whatever its own settings say. */
  askingMode: string | null
  /** It asks for nothing while it works, so it runs in the sandbox only. */
  neverAsks?: true
  /** With each new and each loaded session. */
  sessionMeta?: Record<string, unknown>
}

type KnownProgram = {
  /** The first that is installed is used. */
  ways: readonly CodingWay[]
  /** The hosts of its own service: its models and its sign-in. Commands reach them too, so none that serves anything else. */
  hosts: readonly string[]
  /** What a person types to install it, to sign in, and to bring it up to date. */
  install: string
  signIn: string
  update: string
  /** Variables that it signs in with. */
  keys: readonly string[]
  /** Further variables of the person's: where it keeps its settings, and which service it uses. */
  env: readonly string[]
  /** So that it asks, reads no settings of the repository, and neither updates itself nor reports. */
  always: Readonly<Record<string, string>>
}

/** The adapter would read settings of the repository, which may allow everything or name hooks. */
const NO_SETTINGS_OF_THE_REPOSITORY = { claudeCode: { options: { settingSources: [], strictMcpConfig: true } } }
const CLAUDE_STREAM = [
  '-p',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--verbose',
  '--permission-prompt-tool',
  'stdio',
  '--permission-mode',
  'default',
  '--setting-sources',
  '',
  '--strict-mcp-config',
  '--disallowed-tools',
  'AskUserQuestion',
]
/** Its own sandbox does not work in ours. */
const CODEX_STREAM = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const OPENCODE_ASKS = { '*': 'ask', read: 'allow', list: 'allow', glob: 'allow', grep: 'allow', todowrite: 'allow', todoread: 'allow' }

/** DECISIONS.md has the versions that this was tried with. */
export const CODING_PROGRAMS: Record<CodingCli, KnownProgram> = {
  // https://docs.claude.com/en/docs/claude-code/settings
  claude: {
    ways: [
      ...['claude-agent-acp', 'claude-code-acp'].map((name) => ({
        name,
        protocol: 'acp' as const,
        args: [],
        askingMode: 'default',
        sessionMeta: NO_SETTINGS_OF_THE_REPOSITORY,
      })),
      { name: 'claude', protocol: 'claude', args: CLAUDE_STREAM, askingMode: null },
    ],
    hosts: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com'],
    install: 'npm install -g @anthropic-ai/claude-code',
    signIn: 'claude auth login',
    update: 'npm install -g @anthropic-ai/claude-code@latest',
    keys: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'],
    env: ['CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX'],
    always: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // A `cd` of one command would move the next one, which does not show where it runs.
      CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: '1',
    },
  },
  // https://github.com/agentclientprotocol/codex-acp. Without its mode, a model would decide what is asked.
  codex: {
    ways: [
      { name: 'codex-acp', protocol: 'acp', args: [], askingMode: 'read-only' },
      { name: 'codex', protocol: 'codex', args: CODEX_STREAM, askingMode: null, neverAsks: true },
    ],
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
    install: 'npm install -g @openai/codex',
    signIn: 'codex login',
    update: 'npm install -g @openai/codex@latest',
    keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    env: ['CODEX_HOME'],
    always: { INITIAL_AGENT_MODE: 'read-only' },
  },
  // https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/cli-reference.md. It trusts no folder by itself.
  gemini: {
    ways: [{ name: 'gemini', protocol: 'acp', args: ['--acp'], askingMode: 'default' }],
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    install: 'npm install -g @google/gemini-cli',
    signIn: 'gemini',
    update: 'npm install -g @google/gemini-cli@latest',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    env: ['GOOGLE_CLOUD_PROJECT'],
    always: {},
  },
  // https://opencode.ai/docs/permissions: unless it is told otherwise, it asks for nothing.
  opencode: {
    ways: [{ name: 'opencode', protocol: 'acp', args: ['acp'], askingMode: null }],
    // It has no service of its own. These are those that its keys are for most often.
    hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com', 'openrouter.ai'],
    install: 'npm install -g opencode-ai',
    signIn: 'opencode auth login',
    update: 'npm install -g opencode-ai@latest',
    keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    env: ['XDG_DATA_HOME', 'OPENCODE_CONFIG'],
    always: {
      OPENCODE_PERMISSION: JSON.stringify(OPENCODE_ASKS),
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_PURE: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
    },
  },
}

/** The program to talk to, never from a folder where agents write. null: none is installed that can be talked to. */
export function findCodingProgram(cli: CodingCli, places: { folders: readonly string[]; closed: readonly string[] }): string | null {
  for (const { name } of CODING_PROGRAMS[cli].ways) {
    const path = findTrustedProgram([name], places)
    if (path !== null) return path
  }
  return null
}

/** Whether a program asks before it acts. If not, its start is the only call that can be judged. */
export function asksBeforeItActs(cli: CodingCli, program: string): boolean {
  return wayOf(cli, basename(program)).neverAsks !== true
}

/** Returns how to start the program that has this file name. */
export function wayOf(cli: CodingCli, fileName: string): CodingWay {
  const name = fileName.replace(/\.exe$/i, '')
  const way = CODING_PROGRAMS[cli].ways.find((one) => one.name === name)
  if (way === undefined) throw new Error(`${fileName} is no program of ${cli}`)
  return way
}

/** JSON-RPC codes of the protocol. */
const AUTH_REQUIRED = -32_000
const SIGNED_OUT =
  /\b(?:not (?:logged|signed) in|log ?in required|auth(?:entication|orization)? (?:is )?required|please (?:log|sign) ?in|unauthorized|invalid api key|\/login\b)/i
/** What Claude Code and Codex say. Others answer the request with an error. */
const UNKNOWN_SESSION = /No conversation found with session ID|no rollout found for thread id/i
const UNKNOWN_ARGUMENT = /\b(?:unknown|unexpected|unrecognized|invalid) (?:argument|option|command|subcommand|flag)/i

export function signedOut(cli: CodingCli, detail: string): CodingSessionFailed {
  const params = { program: CODING_PROGRAM_NAMES[cli], command: CODING_PROGRAMS[cli].signIn }
  return new CodingSessionFailed('not_signed_in', createMessage('coding_not_signed_in', params), detail)
}

export function tooOld(cli: CodingCli, detail: string): CodingSessionFailed {
  const params = { program: CODING_PROGRAM_NAMES[cli], command: CODING_PROGRAMS[cli].update }
  return new CodingSessionFailed('too_old', createMessage('coding_too_old', params), detail)
}

export function unknownSession(cli: CodingCli): CodingSessionFailed {
  const params = { program: CODING_PROGRAM_NAMES[cli], words: quote('Session not found') }
  return new CodingSessionFailed('refused', createMessage('coding_refused', params))
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
  if (end?.reason === 'exited' && UNKNOWN_SESSION.test(complaint)) return unknownSession(cli)
  if (end !== null && end.reason !== 'stopped') {
    const detail = [end.detail, complaint].filter((part) => part !== '').join(' ')
    return new CodingSessionFailed('ended', createMessage('coding_ended', { program, words: quote(cutText(detail, 500)) }), detail)
  }
  if ((thrown as { code?: unknown }).code === AUTH_REQUIRED || SIGNED_OUT.test(said)) return signedOut(cli, said)
  return new CodingSessionFailed('refused', createMessage('coding_refused', { program, words: quote(cutText(said, 500)) }), said)
}
