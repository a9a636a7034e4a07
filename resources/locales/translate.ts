import { IntlMessageFormat, type Formats, type Formatters } from 'intl-messageformat'
import { bytesText, cachedFormat, moneyText } from './numbers.ts'
import { LANGUAGES, type Language, type TextKey, type TextParams } from './texts.ts'

/** A language file: texts in ICU MessageFormat, nested by the parts of their keys. */
export type Catalogue = { readonly [part: string]: string | Catalogue }

/** The parameters of a text, as an argument that is left out when there are none. Of several keys: the arguments of each. */
export type ParamsOf<K extends TextKey> = K extends TextKey ? (keyof TextParams[K] extends never ? [] : [params: TextParams[K]]) : never

export type Translate = <K extends TextKey>(key: K, ...params: ParamsOf<K>) => string

type Elements = ReturnType<IntlMessageFormat['getAst']>

/**
 * Returns `t(key, params)` for one language. `locale` is the tag for numbers, dates and plurals, and may be more exact than
 * the language of the catalogue ("en-GB"). A key that the catalogue does not have is returned as it is. `rewrite` changes
 * each text before it is first used.
 */
export function createTranslate(locale: string, catalogue: Catalogue, rewrite?: (elements: Elements) => Elements): Translate {
  const compiled = new Map<string, IntlMessageFormat>()
  const compile = (text: string) => {
    const format = new IntlMessageFormat(text, locale, FORMATS, { ignoreTag: true, formatters })
    return rewrite === undefined ? format : new IntlMessageFormat(rewrite(format.getAst()), locale, FORMATS, { formatters })
  }
  return (key, ...[params]) => {
    let format = compiled.get(key)
    if (format === undefined) {
      const text = findText(catalogue, key)
      if (text === null) return key
      format = compile(text)
      compiled.set(key, format)
    }
    return String(format.format(params && withListTexts(params, locale)))
  }
}

/** A text below `messages`, with parameters that may be messages themselves. */
export type MessageLike = { readonly code: string; readonly params: Readonly<Record<string, string | number | MessageLike | List>> }
type List = readonly (string | MessageLike)[]

/** Renders a message. One of another version, whose text is not there or takes other parameters, is shown as its code. */
export function renderMessage(t: Translate, { code, params }: MessageLike): string {
  const textOf = <T>(param: T | MessageLike) => (isMessage(param) ? renderMessage(t, param) : param)
  const texts = Object.entries(params).map(([name, param]) => [name, isList(param) ? param.map(textOf) : textOf(param)])
  const key = `messages.${code}`
  try {
    const text = (t as (key: string, params: unknown) => string)(key, Object.fromEntries(texts))
    return text === key ? code : text
  } catch {
    return code
  }
}

function isList(param: unknown): param is List {
  return Array.isArray(param)
}

function isMessage(param: unknown): param is MessageLike {
  return typeof param === 'object'
}

/** Writes each parameter that is a list of words as the language does: "a, b, and c". */
function withListTexts(params: Record<string, unknown>, locale: string): Record<string, unknown> {
  const lists = Object.entries(params).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]))
  if (lists.length === 0) return params
  const format = new Intl.ListFormat(locale)
  return { ...params, ...Object.fromEntries(lists.map(([name, words]) => [name, format.format(words)])) }
}

/** The language that a person chose in the settings, or `system`. */
export type LanguageSetting = 'system' | Language

/**
 * The chosen language. For `system` the first of the person's languages (tags, the preferred one first) that there is a
 * catalogue for, and English if there is none.
 */
export function chooseLanguage(setting: LanguageSetting, preferred: readonly string[]): Language {
  if (setting !== 'system') return setting
  const known = preferred.map((tag) => LANGUAGES.find((language) => isOfLanguage(tag, language)))
  return known.find((language) => language !== undefined) ?? 'en'
}

/** Whether a tag is a variant of a language: "de-AT" of "de". */
export function isOfLanguage(tag: string, language: Language): boolean {
  return `${tag.toLowerCase()}-`.startsWith(`${language.toLowerCase()}-`)
}

export function findText(catalogue: Catalogue, key: string): string | null {
  let found: string | Catalogue | undefined = catalogue
  for (const part of key.split('.')) found = typeof found === 'object' ? found[part] : undefined
  return typeof found === 'string' ? found : null
}

/** The number styles that texts may name beside those of ICU: `{limitUsd, number, usd}`, `{size, number, bytes}`. */
const FORMATS: Partial<Formats> = { number: { usd: { style: 'currency', currency: 'USD' }, bytes: { style: 'unit', unit: 'byte' } } }

const formatters: Formatters = {
  getNumberFormat(locales, options) {
    const locale = String(locales)
    const format = cachedFormat(`number ${locale} ${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options))
    if (options?.currency === 'USD') return withText(format, (usd) => moneyText(usd, locale))
    if (options?.unit === 'byte') return withText(format, (bytes) => bytesText(bytes, locale))
    return format
  },
  getDateTimeFormat(locales, options) {
    return cachedFormat(`date ${String(locales)} ${JSON.stringify(options)}`, () => new Intl.DateTimeFormat(locales, options))
  },
  getPluralRules: (locales, options) => new Intl.PluralRules(locales, options),
}

function withText(format: Intl.NumberFormat, text: (value: number) => string): Intl.NumberFormat {
  return Object.defineProperty(Object.create(format) as Intl.NumberFormat, 'format', { value: text })
}
