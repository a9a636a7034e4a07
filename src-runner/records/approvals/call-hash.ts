import { createHash } from 'node:crypto'

/** SHA-256 in hex over the tool's name and the arguments: what a person approved and what runs must have the same one. */
export function hashOfCall(tool: string, args: unknown): string {
  return createHash('sha256')
    .update(`${tool}\n${canonicalJson(args)}`)
    .digest('hex')
}

/** JSON whose keys are in one order only. Arguments come from JSON and are bounded in size and depth before they get here. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, held]) => held !== undefined)
  // Not by locale: the same everywhere.
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, held]) => `${JSON.stringify(key)}:${canonicalJson(held)}`).join(',')}}`
}
