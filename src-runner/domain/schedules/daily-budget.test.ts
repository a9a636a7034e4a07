import { expect, it } from 'vitest'
import { localDayStart } from '../../lib/zone-offsets.ts'
import { BUCKET_MS } from '../spend/add-spend.sql.ts'

const DAY = 86_400_000

it('starts the local day of every time zone with a 15-minute bucket, as spend is stored', () => {
  const zones = Intl.supportedValuesOf('timeZone')
  expect(zones.length).toBeGreaterThan(300)
  const odd: string[] = []
  for (const zone of zones) {
    for (let at = Date.UTC(2026, 0, 1, 12); at < Date.UTC(2027, 0, 1); at += DAY) {
      if (localDayStart(at, zone) % BUCKET_MS !== 0) odd.push(`${zone} ${new Date(at).toISOString()}`)
    }
  }
  expect(odd).toEqual([])
})
