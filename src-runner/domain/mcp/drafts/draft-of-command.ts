import type { Message } from '../../../contract/messages.ts'
import { createMessage } from '../../../lib/messages.ts'
import { type RawDraft, readEnv, readHeader } from './draft-parts.ts'

type Values = RawDraft['values']

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/
/** Short and long options of `docker run` that set a variable. */
const DOCKER_ENV = /^(?:-e|--env)(?:=(.*))?$/s

/** What the words of a command line start. Known wrappers become what they stand for. */
export function draftOfWords(words: readonly string[], name: string | null = null): RawDraft {
  const values: Values = []
  let rest = [...words]
  if (rest[0] === 'env') rest.shift()
  while (ASSIGNMENT.test(rest[0] ?? '')) values.push(readEnv(rest.shift()!))
  // `cmd /c npx …` only looks up `npx.cmd`.
  if (/^cmd(\.exe)?$/i.test(rest[0] ?? '') && /^\/c$/i.test(rest[1] ?? '')) rest = rest.slice(2)
  const [command = '', ...args] = rest
  const remote = remoteOf(command, args)
  if (remote !== null) return { name, ...remote, values: remote.values }
  const isDocker = /(^|[\\/])(docker|podman)(\.exe)?$/.test(command) && args.includes('run')
  const run = isDocker ? withoutDockerEnv(args) : { args, values: [] }
  return { name, transport: { kind: 'stdio', command, args: run.args }, values: dedupe([...values, ...run.values]) }
}

/** `docker run -e NAME=value` passes a variable on as `-e NAME`, so the value need not be an argument. */
function withoutDockerEnv(args: readonly string[]): { args: string[]; values: Values } {
  const kept: string[] = []
  const values: Values = []
  for (let i = 0; i < args.length; i++) {
    const match = DOCKER_ENV.exec(args[i]!)
    const pair = match === null ? undefined : (match[1] ?? args[++i])
    if (match === null || pair === undefined) {
      kept.push(args[i] ?? '-e')
      continue
    }
    const value = readEnv(pair)
    kept.push('-e', value.name)
    values.push(value)
  }
  return { args: kept, values }
}

/** `npx mcp-remote <url> --header …` is a bridge to a remote server, which Deckhand reaches itself. */
function remoteOf(command: string, args: readonly string[]): Pick<RawDraft, 'transport' | 'values'> | null {
  if (!/^(npx|bunx|pnpx)(\.cmd)?$/.test(command)) return null
  const at = args.findIndex((arg) => /^mcp-remote(@.*)?$/.test(arg))
  const url = at === -1 ? undefined : args.slice(at + 1).find((arg) => /^https?:\/\//.test(arg))
  if (url === undefined) return null
  const headers = args.flatMap((arg, i) => (arg === '--header' ? (readHeader(args[i + 1] ?? '') ?? []) : []))
  const isSse = args.some((arg, i) => arg === '--transport' && args[i + 1]?.startsWith('sse') === true)
  return { transport: { kind: isSse ? 'sse' : 'http', url }, values: dedupe(headers) }
}

/** The last one of a name counts. */
export function dedupe(values: Values): Values {
  return [...new Map(values.map((value) => [`${value.place} ${value.name}`, value])).values()]
}

/** `claude mcp add [options] <name> (<url> | [--] <command> …)`. null: it is another command. */
export function draftOfClaude(words: readonly string[]): RawDraft | Message | null {
  if (words[0] !== 'claude' || words[1] !== 'mcp' || words[2] !== 'add') return null
  const values: Values = []
  const plain: string[] = []
  let transport = 'stdio'
  for (let i = 3; i < words.length; i++) {
    const word = words[i]!
    if (word === '--') {
      plain.push(...words.slice(i + 1))
      break
    }
    if (plain.length === 2 && transport === 'stdio') {
      plain.push(word)
      continue
    }
    const [option, inline] = /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]
    const value = () => inline ?? words[++i] ?? ''
    if (option === '--transport' || option === '-t') transport = value()
    else if (option === '--env' || option === '-e') values.push(readEnv(value()))
    else if (option === '--header' || option === '-H') values.push(...[readHeader(value()) ?? []].flat())
    else if (option === '--scope' || option === '-s') value()
    else plain.push(word)
  }
  const [name, first, ...more] = plain
  if (name === undefined || first === undefined) return createMessage('mcp_paste_incomplete')
  if (transport === 'http' || transport === 'sse') return { name, transport: { kind: transport, url: first }, values: dedupe(values) }
  const draft = draftOfWords([first, ...more], name)
  return { ...draft, values: dedupe([...values, ...draft.values]) }
}
