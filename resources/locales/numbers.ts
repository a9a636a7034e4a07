type Format = Intl.RelativeTimeFormat | Intl.DateTimeFormat | Intl.NumberFormat
const formats = new Map<string, Format>()
let zoneOffset: number | null = null

/** Returns the format kept under `key`. Creating an Intl format is slow, and lists use the same few thousands of times. */
export function cachedFormat<F extends Format>(key: string, create: () => F): F {
  // A format keeps the timezone that the machine had when it was created.
  const offset = new Date().getTimezoneOffset()
  if (offset !== zoneOffset) formats.clear()
  zoneOffset = offset
  const known = formats.get(key)
  if (known !== undefined) return known as F
  const created = create()
  formats.set(key, created)
  return created
}

/** Dollars with two decimals; below one cent with four, so that small jobs do not look free. */
export function moneyText(usd: number, locale: string): string {
  const decimals = usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2
  const text = (value: number) =>
    cachedFormat(
      `money ${locale} ${decimals}`,
      () =>
        new Intl.NumberFormat(locale, {
          style: 'currency',
          currency: 'USD',
          currencyDisplay: 'narrowSymbol',
          minimumFractionDigits: decimals,
          maximumFractionDigits: decimals,
        }),
    ).format(value)
  if (usd > 0 && usd < 0.0001) return `< ${text(0.0001)}`
  return text(usd)
}

/** A price of a million tokens: up to four decimals, without zeros that say nothing. */
export function priceText(usd: number, locale: string): string {
  return cachedFormat(
    `price ${locale}`,
    () =>
      new Intl.NumberFormat(locale, {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
        minimumFractionDigits: 2,
        maximumFractionDigits: 4,
      }),
  ).format(usd)
}

export function countText(count: number, locale: string): string {
  return cachedFormat(`count ${locale}`, () => new Intl.NumberFormat(locale)).format(count)
}

/** "950", "12.4K", "1.2M". German has no short form of a thousand: "1.200", "50.000". */
export function compactText(count: number, locale: string): string {
  if (count < 1000) return countText(count, locale)
  return cachedFormat(
    `compact ${locale}`,
    () =>
      new Intl.NumberFormat(locale, {
        notation: 'compact',
        maximumFractionDigits: 1,
        // Without it, "1200" stands beside "50.000".
        useGrouping: 'always',
      }),
  ).format(count)
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** "340 bytes", "1.2 kB", "3 MB". */
export function bytesText(bytes: number, locale: string): string {
  const step = Math.min(BYTE_UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const unit = BYTE_UNITS[step]!
  return cachedFormat(
    `bytes ${locale} ${unit}`,
    () =>
      new Intl.NumberFormat(locale, {
        style: 'unit',
        unit,
        maximumFractionDigits: 1,
        // Short it is "340 byte".
        unitDisplay: unit === 'byte' ? 'long' : 'short',
      }),
  ).format(bytes / 1000 ** step)
}

/** A number as a person would write it into a field. */
export function fieldText(value: number | null | undefined, locale: string): string {
  if (value === null || value === undefined) return ''
  return cachedFormat(`field ${locale}`, () => new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 10 })).format(
    value,
  )
}

/** Numbers with points or commas between groups of digits, by the decimal sign. */
const GROUPED: Record<string, RegExp> = {
  ',': /^[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/,
  '.': /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/,
}
const GROUPED_BY_GAPS = /^[1-9]\d{0,2}(?:[\s'‘’ʼ]\d{3})+(?:[.,]\d+)?$/
const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)$/

/**
 * What a person wrote into a field, with groups of digits as their country writes them ("10,000", "10 000", "10’000"). Otherwise a
 * comma is a decimal point to many people. NaN: no number.
 */
export function readNumber(text: string, locale: string): number {
  const format = cachedFormat(`count ${locale}`, () => new Intl.NumberFormat(locale))
  const decimalSign = format.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'
  const plain = withoutGroups(text.trim(), decimalSign).replace(',', '.')
  return DECIMAL.test(plain) ? Number(plain) : Number.NaN
}

function withoutGroups(written: string, decimalSign: string): string {
  if (GROUPED_BY_GAPS.test(written)) return written.replaceAll(/[^\d.,]/g, '')
  // By the decimal sign: where groups are written with spaces, people also write points.
  if (GROUPED[decimalSign]?.test(written)) return written.replaceAll(decimalSign === ',' ? '.' : ',', '')
  return written
}
