import type { Connector } from '../contract/connectors.ts'
import { fieldsOfHosts, fillIn } from '../domain/connectors/connectors.ts'
import type { GuardedFetch } from '../platform/net/guarded-fetch.ts'
import { isHostCovered } from '../platform/net/host-list.ts'

/** `status`: of the response. `isProven`: the service knows the account. Its name is null when it does not say. */
export type AccountAnswer = { status: number; isProven: boolean; accountName: string | null }

/** `fields`: those of the connector. Absent: as far as the hosts tell them. */
type SignIn = { headers: Readonly<Record<string, string>>; hosts: readonly string[]; fields?: Readonly<Record<string, string>> }

const MAX_BYTES = 200_000
const MAX_NAME_CHARS = 200

/**
 * Asks the service whose account this is. null: the connector knows no such call. Throws GuardedFetchError when there is no
 * response.
 */
export async function callAccount(
  fetch: GuardedFetch,
  connector: Connector,
  { headers, hosts, fields = fieldsOfHosts(connector, hosts) }: SignIn,
  signal?: AbortSignal,
): Promise<AccountAnswer | null> {
  const { account } = connector
  if (account === null) return null
  const url = new URL(fillIn(account.url, connector, fields))
  if (!isHostCovered(url, hosts)) return null
  const response = await fetch(url, {
    method: account.method,
    headers: {
      accept: 'application/json',
      ...connector.headers,
      ...(account.body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(account.body === null ? {} : { body: account.body }),
    ...(signal === undefined ? {} : { signal }),
    follows: () => false,
    maxBytes: MAX_BYTES,
  })
  const body = response.status < 300 ? readJson(response.body) : undefined
  // Slack answers 200 with `ok: false`, GraphQL 200 with errors and no data.
  const isRefused =
    typeof body !== 'object' ||
    body === null ||
    at(body, 'ok') === false ||
    ((at(body, 'data') ?? 0) === 0 && at(body, 'errors') !== undefined)
  return { status: response.status, isProven: !isRefused, accountName: isRefused ? null : nameIn(body, account.name) }
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function at(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined
}

function nameIn(body: unknown, path: readonly string[]): string | null {
  return readAccountName(path.reduce(at, body))
}

/** As a service names an account, on one line and short. null: it does not. */
export function readAccountName(name: unknown): string | null {
  if (typeof name !== 'string' && typeof name !== 'number') return null
  const line = String(name).replace(/\p{C}/gu, ' ').trim().slice(0, MAX_NAME_CHARS).toWellFormed()
  return line === '' ? null : line
}
