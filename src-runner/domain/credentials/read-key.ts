import type { Connector, CredentialKind } from '../../contract/connectors.ts'
import type { CreateCredential } from '../../contract/credentials.ts'
import type { ErrorIssue } from '../../contract/errors.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError, issueAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { readHost } from '../../platform/net/host-list.ts'
import { fillIn, findConnector, isGeneral } from '../connectors/connectors.ts'

/** How requests sign in with a key, a password or a header. `secrets`: the parts of the headers that nobody may read. */
export type KeySignIn = {
  connector: Connector
  kind: Exclude<CredentialKind, 'oauth2'>
  headers: Record<string, string>
  secrets: string[]
  hosts: string[]
}

/** How a message is framed and where it goes is not a matter of signing in. */
const CLOSED_HEADERS =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|proxy-.*|x-http-method.*|x-method-override)$/i
/** Shorter words of a header are `Bearer` or `Token`. */
const SHORTEST_PART = 12

/** Throws AppError connector_not_found, or invalid_request with what is wrong in which field. */
export function readKey(input: Omit<CreateCredential, 'credentialId'>, opened: readonly string[]): KeySignIn {
  const connector = findConnector(input.connector)
  if (connector === null) throw new AppError('connector_not_found')
  return { connector, ...headersOf(connector, input.secret), hosts: hostsOf(connector, input, opened) }
}

function headersOf({ kind, keyHeader }: Connector, secret: CreateCredential['secret']): Pick<KeySignIn, 'kind' | 'headers' | 'secrets'> {
  if ('key' in secret) {
    if (keyHeader === null) throw refusal('secret', createMessage('credential_takes_no_key'))
    const { key } = secret
    return { kind: 'api_key', headers: { [keyHeader.name]: keyHeader.value.replace('{key}', () => key) }, secrets: [key] }
  }
  if ('password' in secret) {
    if (kind !== 'basic') throw refusal('secret', createMessage('credential_takes_no_key'))
    const { username, password } = secret
    const encoded = Buffer.from(`${username}:${password}`).toString('base64')
    return { kind, headers: { Authorization: `Basic ${encoded}` }, secrets: [password, encoded] }
  }
  if (kind !== 'header') throw refusal('secret', createMessage('credential_takes_no_key'))
  const { header, value } = secret
  if (CLOSED_HEADERS.test(header)) throw refusal('secret.header', createMessage('credential_header_closed', { header }))
  const parts = value.split(/[\s=,;"]+/).filter((part) => part.length >= SHORTEST_PART)
  return { kind, headers: { [header]: value }, secrets: [...new Set([value, ...parts])] }
}

/** The hosts of the connector, or those that the person names for a general one. */
function hostsOf(
  connector: Connector,
  { hosts, fields = {} }: Pick<CreateCredential, 'hosts' | 'fields'>,
  opened: readonly string[],
): string[] {
  if (isGeneral(connector)) {
    if (hosts === undefined) throw refusal('hosts', createMessage('credential_needs_hosts'))
    return readHosts(hosts, opened)
  }
  const known = new Map(connector.fields.map(({ name, preset }) => [name, preset]))
  for (const [name, value] of Object.entries(fields)) {
    if (!known.has(name)) throw refusal(`fields.${name}`, createMessage('credential_field_unknown'))
    known.set(name, readOrRefuse(`fields.${name}`, value, opened))
  }
  return connector.hosts.map((host) => fillIn(host, connector, Object.fromEntries(known)))
}

/** The hosts that a person names, each once. Throws AppError invalid_request with what is wrong with which. */
export function readHosts(hosts: readonly string[], opened: readonly string[]): string[] {
  return [...new Set(hosts.map((host, at) => readOrRefuse(`hosts.${at}`, host, opened)))]
}

function readOrRefuse(path: string, given: string, opened: readonly string[]): string {
  const read = readHost(given, opened)
  if ('problem' in read) throw refusal(path, read.problem)
  return read.host
}

function refusal(path: string, problem: Message): AppError {
  const issues: ErrorIssue[] = [issueAt(path, problem)]
  return new AppError('invalid_request', problem, { issues })
}
