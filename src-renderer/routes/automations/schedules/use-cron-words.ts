import { type Accessor, createEffect, createSignal } from 'solid-js'
import { locale } from '../../../lib/language.ts'
import { rhythmOf, sayRhythm } from './rhythm.ts'

/** A cron expression in words; the expression itself until they are there, and where there are none. */
export function useCronWords(cron: Accessor<string>): Accessor<string> {
  const [described, setDescribed] = createSignal({ cron: '', locale: '', text: '' })
  const own = () => sayRhythm(rhythmOf(cron()), locale())
  createEffect(() => {
    const asked = { cron: cron(), locale: locale() }
    if (own() !== null || asked.cron.trim() === '') return
    // Loaded when the first expression is met that is none of the usual ones.
    void import('./describe-cron.ts').then(({ describeCron }) => {
      try {
        setDescribed({ ...asked, text: describeCron(asked.cron, asked.locale) })
      } catch {
        // Half written, or something that only the runner understands.
        setDescribed({ ...asked, text: asked.cron })
      }
    })
  })
  return () => {
    const known = described()
    return own() ?? (known.cron === cron() && known.locale === locale() ? known.text : cron())
  }
}
