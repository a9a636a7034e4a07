/** What Slack checks and shows of a message. */

export type ServedButton = { label: string; value: string }
export type Block = { type: string; block_id?: string; elements?: Element[] } & Record<string, unknown>
type Element = { type: string; text?: unknown; url?: string; style?: unknown; elements?: Element[] } & Record<string, unknown>

/** A refusal in Slack's own words. */
export class Refused extends Error {
  readonly code: string
  readonly more: Record<string, unknown>
  constructor(code: string, more: Record<string, unknown> = {}) {
    super(code)
    this.code = code
    this.more = more
  }
}

const RICH = ['rich_text_section', 'rich_text_preformatted', 'rich_text_quote', 'rich_text_list']
const INLINE = ['text', 'link', 'user', 'broadcast', 'channel', 'emoji', 'usergroup']
const STYLES = ['bold', 'italic', 'strike', 'code']
const MOST = { blocks: 50, buttons: 25, label: 75, value: 2000, actionId: 255, url: 3000 }

export function checkBlocks(given: string): Block[] {
  const blocks = JSON.parse(given) as Block[]
  check(Array.isArray(blocks) && blocks.length > 0 && blocks.length <= MOST.blocks, 'blocks')
  for (const block of blocks) {
    if (block.type === 'rich_text') block.elements!.forEach(checkRich)
    else if (block.type === 'actions') checkActions(block.elements!)
    else check(false, block.type)
  }
  return blocks
}

function check(isFit: boolean, what: string): asserts isFit {
  if (!isFit) throw new Refused('invalid_blocks', { response_metadata: { messages: [`[ERROR] failed to match ${what}`] } })
}

function checkRich(element: Element): void {
  check(RICH.includes(element.type) && Array.isArray(element.elements) && element.elements.length > 0, element.type)
  for (const inner of element.elements) {
    check(INLINE.includes(inner.type), inner.type)
    if (inner.type === 'text' || inner.text !== undefined) {
      check(typeof inner.text === 'string' && inner.text !== '' && inner.text.isWellFormed(), 'text')
    }
    if (inner.type === 'link') check(typeof inner.url === 'string' && URL.canParse(inner.url) && inner.url.length <= MOST.url, 'url')
    check(
      Object.keys(inner.style ?? {}).every((style) => STYLES.includes(style)),
      'style',
    )
    // Code keeps its text as it is.
    if (element.type === 'rich_text_preformatted') check(inner.style === undefined, 'style of code')
  }
}

function checkActions(elements: Element[]): void {
  check(elements.length > 0 && elements.length <= MOST.buttons, 'actions')
  check(new Set(elements.map((element) => element['action_id'])).size === elements.length, 'action_id')
  for (const element of elements) {
    const text = element.text as { type: string; text: string }
    check(element.type === 'button' && text.type === 'plain_text', 'button')
    check(text.text !== '' && text.text.length <= MOST.label && text.text.isWellFormed(), 'label')
    check(String(element['action_id']).length <= MOST.actionId && String(element['value']).length <= MOST.value, 'value')
  }
}

export function buttonsOf(blocks: readonly Block[] | undefined): ServedButton[] {
  const actions = (blocks ?? []).filter(({ type }) => type === 'actions').flatMap(({ elements }) => elements ?? [])
  return actions.map((element) => ({ label: (element.text as { text: string }).text, value: String(element['value']) }))
}

/** The text as a person reads it: from the blocks, if there are any. */
export function shownText(text: string, blocks: readonly Block[] | undefined): string {
  const rich = (blocks ?? []).filter(({ type }) => type === 'rich_text').flatMap(({ elements }) => elements ?? [])
  if (rich.length === 0) return unescape(text)
  return rich.map(({ elements }) => (elements ?? []).map((inner) => shownInline(inner)).join('')).join('\n')
}

function shownInline({ type, text, url }: Element): string {
  if (type === 'text') return text as string
  if (type === 'link') return (text as string | undefined) ?? url!
  return `(${type})`
}

/** Everybody whom the message would notify. */
export function mentionsIn(text: string, blocks: readonly Block[] | undefined): string[] {
  const rich = (blocks ?? []).flatMap(({ elements }) => elements ?? []).flatMap(({ elements }) => elements ?? [])
  const inBlocks = rich.filter(({ type }) => type !== 'text' && type !== 'link').map(({ type }) => type)
  return [...(text.match(/<[@!#][^>]*>/g) ?? []), ...inBlocks]
}

function unescape(text: string): string {
  return text
    .replace(/<([@#!][^>]*)>/g, '($1)')
    .replace(/<([^>|]+)(?:\|([^>]*))?>/g, (_whole, url: string, label?: string) => label ?? url)
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
