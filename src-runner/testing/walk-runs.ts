/** How often a random walk is walked: as often as finds a planted fault many times over, and ten times that in `npm run test:long`. */
export function walkRuns(usual: number): number {
  return usual * Number(process.env['WALK_TIMES'] ?? 1)
}
