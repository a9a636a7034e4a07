/** Money is integer micro-dollars inside and dollars outside. */
export function toUsd(micros: number): number {
  return micros / 1_000_000
}

export function toMicros(usd: number): number {
  return Math.round(usd * 1_000_000)
}
