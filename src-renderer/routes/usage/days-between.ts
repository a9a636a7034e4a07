/** The local days from the one of `from` to the one of `to`: each with its date as YYYY-MM-DD and an instant in its middle. */
export function daysBetween(from: number, to: number): { key: string; at: number }[] {
  const days: { key: string; at: number }[] = []
  const day = new Date(from)
  // At noon no change of the clocks leads to another date.
  day.setHours(12, 0, 0, 0)
  const last = new Date(to).setHours(12, 0, 0, 0)
  for (; day.getTime() <= last; day.setDate(day.getDate() + 1)) days.push({ key: dateOf(day), at: day.getTime() })
  return days
}

function dateOf(day: Date): string {
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}
