import type { Message } from '../../../contract/messages.ts'
import { z } from 'zod'
import { createMessage, englishText } from '../../../lib/messages.ts'

export type WebSearchConfig = {
  kind: 'brave' | 'tavily' | 'searxng'
  /** null: the provider's own address. SearXNG has none. */
  baseUrl?: string | null
  /** The person has entered a key, even if the provider needs none. */
  hasKey?: boolean
}

type SearchQuery = { query: string; count: number; recent: 'day' | 'month' | 'year' | null; apiKey: string | null }
type SearchRequest = { url: URL; method?: 'POST'; headers: Record<string, string>; body?: string }
export type SearchResult = { title: string; url: string; snippet: string; published: string | null; isHtml: boolean }

/** What is missing in the settings, for the person. null: nothing. */
export function missingFrom({ kind, baseUrl }: WebSearchConfig, hasKey: boolean): Message | null {
  if (kind === 'searxng' && !baseUrl) return createMessage('search_needs_address')
  if (kind !== 'searxng' && !hasKey) return createMessage('search_needs_key', { provider: NAMES[kind] })
  if (baseUrl && !isBaseUrl(baseUrl)) return createMessage('search_bad_address', { provider: NAMES[kind] })
  return null
}

/** The key comes with each query and is not kept. Throws if there is no address. */
export function providerFor(config: WebSearchConfig) {
  const missing = missingFrom(config, true)
  if (missing !== null) throw new Error(englishText(missing))
  const { defaultUrl, request, problems = {}, ...rest } = PROVIDERS[config.kind]
  const baseUrl = config.baseUrl ?? defaultUrl!
  const name = NAMES[config.kind]
  return {
    name,
    ...rest,
    request: (query: SearchQuery) => request(baseUrl, query),
    /** For the model, if the status is not a success. */
    problemFor: (status: number, retryAfter: string | undefined): string | null =>
      problems[status]?.(name, status) ?? usualProblem(name, status, retryAfter),
  }
}

const NAMES = { brave: 'Brave Search', tavily: 'Tavily', searxng: 'SearXNG' }

const text = z.string().catch('')
const published = z.string().min(1).nullable().catch(null)

type ProviderEntry = {
  costsMoney: boolean
  needsKey: boolean
  /** null: the person enters it. */
  defaultUrl: string | null
  request(baseUrl: string, query: SearchQuery): SearchRequest
  /** null: the response has another shape. */
  results(response: unknown): SearchResult[] | null
  /** Statuses that mean something else here than elsewhere. */
  problems?: Record<number, (name: string, status: number) => string>
}

const PROVIDERS: Record<WebSearchConfig['kind'], ProviderEntry> = {
  // https://api-dashboard.search.brave.com/documentation
  brave: {
    defaultUrl: 'https://api.search.brave.com',
    costsMoney: true,
    needsKey: true,
    request: (baseUrl, { query, count, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'res/v1/web/search', {
        q: query,
        count: String(count),
        text_decorations: 'false',
        ...(recent === null ? {} : { freshness: { day: 'pd', month: 'pm', year: 'py' }[recent] }),
      }),
      headers: { 'x-subscription-token': apiKey ?? '' },
    }),
    // "invalid subscription token"
    problems: { 422: refusedKey },
    results: (response) =>
      BraveResponse.safeParse(response).data?.web.map(({ title, url, description, age }) => {
        return { title, url, snippet: description, published: age, isHtml: true }
      }) ?? null,
  },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    defaultUrl: 'https://api.tavily.com',
    costsMoney: true,
    needsKey: true,
    request: (baseUrl, { query, count, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'search', {}),
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: count, ...(recent === null ? {} : { time_range: recent }) }),
    }),
    problems: { 432: usedUp, 433: usedUp },
    results: (response) =>
      TavilyResponse.safeParse(response).data?.results.map(({ title, url, content, published_date }) => {
        return { title, url, snippet: content, published: published_date, isHtml: false }
      }) ?? null,
  },
  // https://docs.searxng.org/dev/search_api.html
  searxng: {
    defaultUrl: null,
    costsMoney: false,
    needsKey: false,
    request: (baseUrl, { query, recent, apiKey }) => ({
      url: addressOf(baseUrl, 'search', { q: query, format: 'json', ...(recent === null ? {} : { time_range: recent }) }),
      headers: { ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
    }),
    problems: {
      403: (name) => `${name} refuses to answer in JSON (HTTP 403). Its operator can add json to search.formats in its settings.yml.`,
    },
    results: (response) =>
      SearxngResponse.safeParse(response).data?.results.map(({ title, url, content, publishedDate }) => {
        return { title, url, snippet: content, published: publishedDate, isHtml: false }
      }) ?? null,
  },
}

const BraveResponse = z.object({
  web: z
    .object({ results: z.array(z.object({ title: text, url: text, description: text, age: published })) })
    .nullish()
    .transform((web) => web?.results ?? []),
})
const TavilyResponse = z.object({ results: z.array(z.object({ title: text, url: text, content: text, published_date: published })) })
const SearxngResponse = z.object({ results: z.array(z.object({ title: text, url: text, content: text, publishedDate: published })) })

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/** An instance may have a base path. */
function addressOf(baseUrl: string, path: string, parameters: Record<string, string>): URL {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  url.search = new URLSearchParams(parameters).toString()
  url.hash = ''
  return url
}

function usualProblem(name: string, status: number, retryAfter: string | undefined): string | null {
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) return refusedKey(name)
  if (status === 429) {
    const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? ` Try again in ${retryAfter} s.` : ' Try again later.'
    return `${name} has had too many searches (HTTP 429).${wait}`
  }
  if (status >= 500) return `${name} failed (HTTP ${status}). Try again later.`
  return `${name} refused the search (HTTP ${status}).`
}

function refusedKey(name: string): string {
  return `${name} does not accept its API key. A person can correct it in Settings.`
}

function usedUp(name: string, status: number): string {
  return `${name}: the searches of this plan are used up (HTTP ${status}). A person can raise the limit there.`
}
