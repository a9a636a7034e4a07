import type { DriverAccess } from './provider-driver.ts'

type Asked = (access: DriverAccess, root: string, model: string, signal: AbortSignal) => Promise<{ tokens: number | null } | null>

/** The interfaces in which servers say with what window a model was loaded. null: it is not that server. */
const INTERFACES: readonly Asked[] = [askLmStudio, askLlamaCpp]

/** Which of them a server has; it stays the same server while its address does. */
const known = new WeakMap<DriverAccess, Asked | 'none'>()

/**
 * How many tokens a model of a server on this machine was given, which is mostly less than it was made for. null: the
 * server does not say, or has not loaded it yet.
 */
export async function readLocalWindow(access: DriverAccess, model: string, signal: AbortSignal): Promise<number | null> {
  const root = access.baseUrl.replace(/\/v1$/, '')
  const first = known.get(access)
  if (first === 'none') return null
  for (const ask of first === undefined ? INTERFACES : [first]) {
    const said = await ask(access, root, model, signal)
    if (said === null) continue
    known.set(access, ask)
    return said.tokens
  }
  if (first === undefined) known.set(access, 'none')
  return null
}

async function askLmStudio(...[access, root, model, signal]: Parameters<Asked>): ReturnType<Asked> {
  const { data } = ((await access.look(`${root}/api/v0/models`, null, signal)) ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) return null
  const entry = (data as ({ id?: unknown; loaded_context_length?: unknown } | null)[]).find((one) => one?.id === model)
  return { tokens: countIn(entry?.loaded_context_length) }
}

async function askLlamaCpp(...[access, root, , signal]: Parameters<Asked>): ReturnType<Asked> {
  const props = (await access.look(`${root}/props`, null, signal)) as { default_generation_settings?: { n_ctx?: unknown } | null } | null
  const tokens = countIn(props?.default_generation_settings?.n_ctx)
  return tokens === null ? null : { tokens }
}

function countIn(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null
}
