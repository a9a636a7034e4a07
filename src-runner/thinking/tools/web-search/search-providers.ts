import { z } from 'zod'
import { say } from '../../../kit/said.ts'

export type WebSearchConfig = {
  kind: 'brave' | 'tavily' | 'searxng'
  /** Where it answers; SearXNG has no other. Without it: the provider's own address. */
  baseUrl?: string
  /** The person has given a key, also where the provider asks for none. */
  hasKey?: boolean
}

export type Recent = 'day' | 'month' | 'year'
export type SearchQuery = { query: string; count: number; recent: Recent | null; apiKey: string | null }
export type SearchRequest = { url: URL; method?: 'POST'; headers: Record<string, string>; body?: string }
export type SearchResult = { title: string; url: string; snippet: string; published: string | null; isHtml: boolean }

export type SearchProvider = {
  name: string
  costsMoney: boolean
  needsKey: boolean
  request(query: SearchQuery): SearchRequest
  /** A sentence for a status that is not success. */
  troubleFor(status: number, retryAfter: string | undefined): string | null
  /** null: the answer has another shape. */
  results(answer: unknown): SearchResult[] | null
}

/** What is missing before a search can be made, as a sentence for the settings. null: nothing. */
export function missingFrom({ kind, baseUrl }: WebSearchConfig, hasKey: boolean): string | null {
  if (kind === 'searxng' && !baseUrl) return say('search_needs_address')
  if (kind !== 'searxng' && !hasKey) return say('search_needs_key', { provider: NAMES[kind] })
  if (baseUrl !== undefined && !isBaseUrl(baseUrl)) return say('search_bad_address', { provider: NAMES[kind] })
  return null
}

/** The key comes with each query: it is read when it is needed and kept nowhere. Throws when there is no address. */
export function providerFor(config: WebSearchConfig): SearchProvider {
  const missing = missingFrom(config, true)
  if (missing !== null) throw new Error(missing)
  switch (config.kind) {
    case 'brave':
      return brave(config.baseUrl ?? 'https://api.search.brave.com')
    case 'tavily':
      return tavily(config.baseUrl ?? 'https://api.tavily.com')
    case 'searxng':
      return searxng(config.baseUrl!)
  }
}

const NAMES = { brave: 'Brave Search', tavily: 'Tavily', searxng: 'SearXNG' }

const text = z.string().catch('')
const published = z.string().min(1).nullable().catch(null)

const BraveAnswer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: text, url: text, description: text, age: published })) })
    .nullish()
    .transform((web) => web?.results ?? []),
})

/** https://api-dashboard.search.brave.com/documentation */
function brave(baseUrl: string): SearchProvider {
  const name = NAMES.brave
  const ages = { day: 'pd', month: 'pm', year: 'py' }
  return {
    name,
    costsMoney: true,
    needsKey: true,
    request: ({ query, count, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'res/v1/web/search', {
        q: query,
        count: String(count),
        text_decorations: 'false',
        ...(recent === null ? {} : { freshness: ages[recent] }),
      }),
      headers: { 'x-subscription-token': apiKey ?? '' },
    }),
    // A key that it does not know is 422 there, "invalid subscription token".
    troubleFor: (status, retryAfter) => (status === 422 ? refusedKey(name) : troubleOf(name, status, retryAfter)),
    results(answer) {
      const parsed = BraveAnswer.safeParse(answer)
      if (!parsed.success) return null
      return parsed.data.web.map(({ title, url, description, age }) => ({ title, url, snippet: description, published: age, isHtml: true }))
    },
  }
}

const TavilyAnswer = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, published_date: published })),
})

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
function tavily(baseUrl: string): SearchProvider {
  const name = NAMES.tavily
  return {
    name,
    costsMoney: true,
    needsKey: true,
    request: ({ query, count, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'search', {}),
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: count, ...(recent === null ? {} : { time_range: recent }) }),
    }),
    // 432 and 433: the plan's or the key's own limit is used up.
    troubleFor: (status, retryAfter) =>
      status === 432 || status === 433
        ? `${name}: the searches of this plan are used up (HTTP ${status}). A person can raise the limit there.`
        : troubleOf(name, status, retryAfter),
    results(answer) {
      const parsed = TavilyAnswer.safeParse(answer)
      if (!parsed.success) return null
      return parsed.data.results.map(({ title, url, content, published_date }) => {
        return { title, url, snippet: content, published: published_date, isHtml: false }
      })
    },
  }
}

const SearxngAnswer = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, publishedDate: published })),
})

/** https://docs.searxng.org/dev/search_api.html */
function searxng(baseUrl: string): SearchProvider {
  const name = NAMES.searxng
  return {
    name,
    costsMoney: false,
    needsKey: false,
    request: ({ query, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'search', { q: query, format: 'json', ...(recent === null ? {} : { time_range: recent }) }),
      headers: { ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
    }),
    troubleFor: (status, retryAfter) =>
      status === 403
        ? `${name} refuses to answer in JSON (HTTP 403). Whoever runs it can add json to search.formats in its settings.yml.`
        : troubleOf(name, status, retryAfter),
    results(answer) {
      const parsed = SearxngAnswer.safeParse(answer)
      if (!parsed.success) return null
      return parsed.data.results.map(({ title, url, content, publishedDate }) => {
        return { title, url, snippet: content, published: publishedDate, isHtml: false }
      })
    },
  }
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/** Below the base's own path: an instance may live under one. */
function addressOf(baseUrl: string, path: string, parameters: Record<string, string>): URL {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  url.search = new URLSearchParams(parameters).toString()
  url.hash = ''
  return url
}

function troubleOf(name: string, status: number, retryAfter: string | undefined): string | null {
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) return refusedKey(name)
  if (status === 429) {
    const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? ` Try again in ${retryAfter} s.` : ' Try again later.'
    return `${name} has had too many searches (HTTP 429).${wait}`
  }
  if (status >= 500) return `${name} is in trouble (HTTP ${status}). Try again later.`
  return `${name} refused the search (HTTP ${status}).`
}

function refusedKey(name: string): string {
  return `${name} does not accept its API key. A person can correct it in Settings.`
}
