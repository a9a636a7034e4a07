/** The last so many days, with today: by name, as in the addresses of screens. */
export const PERIOD_DAYS = { today: 1, week: 7, month: 30, quarter: 90 } as const
export type Period = keyof typeof PERIOD_DAYS
export const PERIODS = Object.keys(PERIOD_DAYS) as readonly Period[]

export function isPeriod(text: string): text is Period {
  return Object.hasOwn(PERIOD_DAYS, text)
}
