import { setImmediate as breathe } from 'node:timers/promises'
import { ModelRef } from '../../contract/agents.ts'
import type { ListedModel } from './model.ts'

/** A server may list millions. Each costs a search for its price, and a server on this machine is asked about each. */
const MAX_LISTED = 2_000
const AT_ONCE = 100

/** Those that can be chosen, of the first ones. */
export function choosableModels(listed: readonly ListedModel[]): ListedModel[] {
  return listed.slice(0, MAX_LISTED).filter(({ model }) => ModelRef.shape.model.safeParse(model).success)
}

/** Handles some at once, with a turn of the event loop after them. */
export async function mapInBatches<T, U>(items: readonly T[], map: (item: T) => Promise<U>): Promise<U[]> {
  const mapped: U[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    mapped.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(map))))
    await breathe()
  }
  return mapped
}
