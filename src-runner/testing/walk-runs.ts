/** How many runs a random walk takes: `usual` is enough to find a planted fault, `npm run test:long` takes 30 times as many. */
export function walkRuns(usual: number): number {
  return usual * Number(process.env['WALK_TIMES'] ?? 1)
}
