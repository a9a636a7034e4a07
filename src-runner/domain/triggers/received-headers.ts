import { z } from 'zod'

/** By lower-case name. A header that came twice is a list or joined by commas, as Node has it. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>

const StoredHeaders = z.record(z.string(), z.string())

/** Headers as they are stored with a delivery. */
export function parseHeaders(json: string): Record<string, string> {
  return StoredHeaders.parse(JSON.parse(json))
}
