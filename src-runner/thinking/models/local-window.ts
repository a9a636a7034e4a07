import type { DriverAccess } from './provider-driver.ts'

/** null: it is not that server. undefined: nothing answered. */
type Said = { tokens: number | null } | null | undefined
type Ask = (access: DriverAccess, root: string, model: string, signal: AbortSignal) => Promise<Said>

/** The interfaces in which servers say with what window a model was loaded. */
const INTERFACES: readonly Ask[] = [askLmStudio, askLlamaCpp]

/** Which of them a server has; it stays the same server while its address does. */
const known = new WeakMap<DriverAccess, readonly Ask[]>()

/**
 * How many tokens a model of a server on this machine was given, which is mostly less than it was made for. null: the
 * server does not say, or has not loaded it yet.
 */
export async function readLocalWindow(access: DriverAccess, model: string, signal: AbortSignal): Promise<number | null> {
  const root = access.baseUrl.replace(/\/v1$/, '')
  for (const ask of known.get(access) ?? INTERFACES) {
    const said = await ask(access, root, model, signal)
    if (said === undefined) return null
    if (said === null) continue
    known.set(access, [ask])
    return said.tokens
  }
  if (!known.has(access)) known.set(access, [])
  return null
}

async function askLmStudio(...[access, root, model, signal]: Parameters<Ask>): Promise<Said> {
  const answer = (await access.look(`${root}/api/v0/models`, null, signal)) as { data?: unknown } | null | undefined
  if (answer === undefined) return undefined
  if (!Array.isArray(answer?.data)) return null
  const entry = (answer.data as ({ id?: unknown; loaded_context_length?: unknown } | null)[]).find((one) => one?.id === model)
  return { tokens: countIn(entry?.loaded_context_length) }
}

async function askLlamaCpp(...[access, root, , signal]: Parameters<Ask>): Promise<Said> {
  type Props = { default_generation_settings?: { n_ctx?: unknown } | null }
  const props = (await access.look(`${root}/props`, null, signal)) as Props | null | undefined
  if (props === undefined) return undefined
  const tokens = countIn(props?.default_generation_settings?.n_ctx)
  return tokens === null ? null : { tokens }
}

function countIn(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null
}
