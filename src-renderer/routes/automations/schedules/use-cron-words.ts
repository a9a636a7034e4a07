import { type Accessor, createEffect, createSignal } from 'solid-js'
import { locale } from '../../../lib/language.ts'
import { rhythmOf, sayRhythm } from './rhythm.ts'

/** A cron expression in words, or the expression itself until they are loaded or if there are none. */
export function useCronWords(cron: Accessor<string>): Accessor<string> {
  const [described, setDescribed] = createSignal({ cron: '', locale: '', text: '' })
  const own = () => sayRhythm(rhythmOf(cron()), locale())
  createEffect(() => {
    const current = { cron: cron(), locale: locale() }
    if (own() !== null || current.cron.trim() === '') return
    // Loaded with the first unusual expression.
    void import('./describe-cron.ts').then(({ describeCron }) => {
      try {
        setDescribed({ ...current, text: describeCron(current.cron, current.locale) })
      } catch {
        // Half typed, or understood only by the runner.
        setDescribed({ ...current, text: current.cron })
      }
    })
  })
  return () => {
    const known = described()
    return own() ?? (known.cron === cron() && known.locale === locale() ? known.text : cron())
  }
}
