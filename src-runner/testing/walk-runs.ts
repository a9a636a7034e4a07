/**
 * How many runs a random walk takes: `usual` is enough to find a planted fault. `npm run test:long` takes 30 times as many, and for a
 * walk whose runs take long, `more` times that.
 */
export function walkRuns(usual: number, more = 1): number {
  const times = process.env['WALK_TIMES']
  return times === undefined ? usual : usual * more * Number(times)
}
