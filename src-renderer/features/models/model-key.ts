import type { ModelRef } from '../../../src-runner/contract/agents.ts'

/** A model as one string, for lists of options. A model id may contain slashes; a provider id cannot. */
export function keyOfModel(model: ModelRef): string {
  return `${model.providerId}/${model.model}`
}

export function modelOfKey(key: string): ModelRef {
  const slash = key.indexOf('/')
  return { providerId: key.slice(0, slash), model: key.slice(slash + 1) }
}

export function isSameModel(a: ModelRef | null | undefined, b: ModelRef | null | undefined): boolean {
  return a?.providerId === b?.providerId && a?.model === b?.model
}
