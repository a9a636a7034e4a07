import { CreateMcpServer, McpTransport } from '../../../contract/mcp.ts'
import { McpDraft, type McpDraftValue, type SkippedMcpDraft } from '../../../contract/mcp-drafts.ts'
import type { Message } from '../../../contract/messages.ts'
import { createMessage } from '../../../lib/messages.ts'
import { readHeaderValue } from '../header-value.ts'
import { nameFor } from '../mcp-servers.ts'

/** What a source says about a server, unchecked. */
export type RawDraft = {
  name: string | null
  description?: string | null
  transport: { kind: 'stdio'; command: unknown; args: unknown } | { kind: 'http' | 'sse'; url: unknown }
  values: (Pick<McpDraftValue, 'place' | 'name'> & Partial<Omit<McpDraftValue, 'value'>> & { value: unknown })[]
  notes?: Message[]
  /** Why it cannot be used, if that is known already. */
  problem?: Message
}

export type ReadDraft = { draft: McpDraft } | { skipped: SkippedMcpDraft }

/** An address or a value with something to fill in: `${input:key}`, `${API_KEY}`, `{tenant}`, `<token>`, `YOUR_API_KEY`. */
const PLACEHOLDER = /^(\$\{[^}]*\}|\{[^}]*\}|<[^>]*>|\$[A-Z_][A-Z0-9_]*|(YOUR|MY|INSERT)[-_ ][\w -]*)$/i
const EMBEDDED_PLACEHOLDER = /\$\{[^}]*\}|\{[A-Za-z_][\w-]*\}/

const SECRET_NAME = /(^|[-_.])(api[-_]?key|access[-_]?key|apikey|key|token|secret|password|passwd|credentials?|bearer|auth)$/i
export const SECRET_VALUE = /^(sk-|sk_|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|npm_|dkh_|ya29\.|eyJ[\w-]+\.)/

/** Checks what a source says. What does not fit is skipped, so that one broken entry does not hide the others. */
export function checkDraft({ name: givenName, description: about = null, transport, values, notes = [], problem }: RawDraft): ReadDraft {
  const [name, description] = [plainText(givenName), plainText(about)]
  const skip = (problem: Message) => ({ skipped: { name: (name ?? '').slice(0, 120), problem } })
  if (problem !== undefined) return skip(problem)
  const given = values.map(({ value, ...rest }) => {
    const known = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    const isOpen = known === null || known === undefined || known === '' || (typeof known === 'string' && PLACEHOLDER.test(known))
    return { description: null, isRequired: true, ...rest, value: isOpen ? null : known }
  })
  const namesIn = (place: McpDraftValue['place']) => given.filter((value) => value.place === place).map((value) => value.name)
  const whole =
    transport.kind === 'stdio'
      ? McpTransport.safeParse({ ...transport, envNames: namesIn('env') })
      : McpTransport.safeParse({ ...transport, headerNames: namesIn('header') })
  if (!whole.success) return skip(createMessage(transport.kind === 'stdio' ? 'mcp_draft_command' : 'mcp_draft_address'))
  if (whole.data.kind !== 'stdio' && !isWebAddress(whole.data.url)) return skip(createMessage('mcp_address'))
  const unsendable = given.find(({ place, value }) => place === 'header' && typeof value === 'string' && readHeaderValue(value) === null)
  if (unsendable !== undefined) return skip(createMessage('mcp_header_value', { name: unsendable.name }))
  const named = CreateMcpServer.shape.name.safeParse(name === null ? undefined : name.slice(0, 120))
  const draft = McpDraft.safeParse({
    name: named.data ?? nameFor(whole.data),
    description: description === null ? null : description.slice(0, 1000),
    transport: whole.data,
    values: given,
    notes: [...notes, ...notesOn(whole.data)],
  })
  return draft.success ? { draft: draft.data } : skip(createMessage('mcp_draft_values'))
}

/** Without what is not seen, such as characters that turn the direction of writing. */
function plainText(text: string | null): string | null {
  return text === null
    ? null
    : text
        .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim()
}

function isWebAddress(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

function notesOn(transport: McpTransport): Message[] {
  if (transport.kind !== 'stdio') {
    const { searchParams } = new URL(transport.url)
    const hasSecret = [...searchParams].some(([name, value]) => isSecret(name, value))
    return [
      ...(hasSecret ? [createMessage('mcp_draft_secret_address')] : []),
      ...(EMBEDDED_PLACEHOLDER.test(decodeURIComponentOr(transport.url)) ? [createMessage('mcp_draft_placeholder')] : []),
    ]
  }
  const { command, args } = transport
  const hasSecret = args.some((arg, i) => {
    const [option, value] = splitAtFirst(arg, '=')
    return SECRET_VALUE.test(value ?? arg) || (option.startsWith('-') && isSecret(option, value ?? nextValue(args, i)))
  })
  return [
    ...(hasSecret ? [createMessage('mcp_draft_secret_argument')] : []),
    ...([command, ...args].some((part) => EMBEDDED_PLACEHOLDER.test(part)) ? [createMessage('mcp_draft_placeholder')] : []),
  ]
}

function nextValue(args: readonly string[], i: number): string {
  const next = args[i + 1]
  return next === undefined || next.startsWith('-') ? '' : next
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && !PLACEHOLDER.test(value) && (SECRET_NAME.test(name) || SECRET_VALUE.test(value))
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function splitAtFirst(text: string, sign: string): [string, string | undefined] {
  const at = text.indexOf(sign)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + sign.length)]
}

/** `Authorization: Bearer x`. */
export function readHeader(line: string): { place: 'header'; name: string; value: string } | null {
  const [name, value] = splitAtFirst(line, ':')
  return value === undefined ? null : { place: 'header', name: name.trim(), value: value.trim() }
}

/** `NAME=value`; without `=`, the value is open. */
export function readEnv(pair: string): { place: 'env'; name: string; value: string | null } {
  const [name, value] = splitAtFirst(pair, '=')
  return { place: 'env', name, value: value ?? null }
}
