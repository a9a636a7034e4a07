/** The CPU time of some work on this thread, in milliseconds. It does not depend on how busy the machine is. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** The same for work that waits in between, with whatever else this thread does meanwhile. */
export async function cpuMsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
