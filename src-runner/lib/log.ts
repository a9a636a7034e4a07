/** Structured log. Implemented in `main.ts` over pino; tests collect into an array. */
export type LogFields = Record<string, unknown>

export type Log = {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
}

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} }
