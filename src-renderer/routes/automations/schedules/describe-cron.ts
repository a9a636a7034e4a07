import cronstrue from 'cronstrue'
import 'cronstrue/locales/de.js'

/** A cron expression in words. Throws for an invalid one. */
export function describeCron(cron: string, locale: string): string {
  const use24HourTimeFormat = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 !== true
  return cronstrue.toString(cron, { locale: locale.slice(0, 2), use24HourTimeFormat, throwExceptionOnParseError: true })
}
