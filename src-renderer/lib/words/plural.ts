import { countText } from '../../../resources/locales/numbers.ts'

export type PluralForms = { zero?: string; one?: string; two?: string; few?: string; many?: string; other: string }

/** A choice of form by count for one language. `#` in the form becomes the count. An own `zero` form wins over the rules. */
export function createPlural(locale: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(locale)
  return (count, forms) => {
    const form = (count === 0 ? forms.zero : undefined) ?? forms[rules.select(count)] ?? forms.other
    return form.replace('#', countText(count, locale))
  }
}
