const TRIES_ALL = process.env['EVERY_ROUTE'] !== undefined

/** One of `rounds` shares of many cases. All rounds together try each case once. build/test-long.mjs tries all in each round. */
export function shareOf<Case>(cases: readonly Case[], round: number, rounds: number): Case[] {
  return TRIES_ALL ? [...cases] : cases.filter((_case, i) => i % rounds === round % rounds)
}
