/**
 * What a link may do: show a screen, or propose a task. Nothing in it starts a job, changes a setting or answers an approval,
 * because any web page and any message can hold one.
 */
export type DeepLink = { kind: 'open'; path: string } | { kind: 'task'; text: string }

export const LINK_SCHEME = 'deckhand'

const MAX_LINK = 16_000
const MAX_TASK = 4_000
const SCREENS = ['chat', 'approvals', 'activity', 'automations', 'agents', 'channels', 'models', 'settings']
const JOB = /^\/job\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu

/**
 * `deckhand://open`, `deckhand://open/<screen>`, `deckhand://open/job/<id>`, `deckhand://task?text=…`. null: anything else, also
 * if it only has something too much.
 */
export function parseDeepLink(link: string): DeepLink | null {
  if (link.length > MAX_LINK || !/^deckhand:\/\/[a-z]+(?:[/?]|$)/.test(link) || !URL.canParse(link)) return null
  const { hostname, pathname, username, password, port, hash, searchParams } = new URL(link)
  if (username !== '' || password !== '' || port !== '' || hash !== '') return null
  const names = [...searchParams.keys()]
  if (hostname === 'open' && names.length === 0) {
    const job = JOB.exec(pathname)?.[1]
    if (job !== undefined) return { kind: 'open', path: `/jobs/${job}` }
    const screen = pathname.replace(/^\//, '')
    return screen === '' || SCREENS.includes(screen) ? { kind: 'open', path: `/${screen}` } : null
  }
  if (hostname !== 'task' || (pathname !== '' && pathname !== '/') || names.join() !== 'text') return null
  const text = searchParams.get('text')!.replaceAll('\r\n', '\n').replace(HIDDEN, '').trim()
  return text === '' || text.length > MAX_TASK ? null : { kind: 'task', text }
}

/**
 * The link among the arguments of a start: Windows and Linux pass it there. Every other argument is ignored. null: none, or
 * more than one, which no system passes.
 */
export function linkAmong(args: readonly string[]): string | null {
  const links = args.filter((arg) => arg.toLowerCase().startsWith(`${LINK_SCHEME}:`))
  return links.length === 1 ? links[0]! : null
}
