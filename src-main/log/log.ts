/** Structured log of this process. Tests collect into an array. */
export type LogFields = Record<string, unknown>

export type Log = {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
}

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} }

/** The message of a thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
