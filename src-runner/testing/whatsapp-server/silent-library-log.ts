type LibraryLog = {
  level: string
  child(): LibraryLog
} & Record<'trace' | 'debug' | 'info' | 'warn' | 'error', (given: unknown, text?: string) => void>

const nothing = () => {}
export const silentLibraryLog: LibraryLog = {
  level: 'silent',
  child: () => silentLibraryLog,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
}
