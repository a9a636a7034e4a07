/** What the runs of one schedule hand on from each to the next. */
export type WatchState = {
  /** On disk when it resolves, in place of what was kept before. false: the schedule is not there any more. */
  keep(state: string): Promise<boolean>
}
