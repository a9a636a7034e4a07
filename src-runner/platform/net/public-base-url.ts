import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'

/** A person's base address for webhooks, without a trailing slash, or what is wrong with it. A path is allowed, for proxies. */
export function readPublicBase(given: string): { url: string } | { url: null; problem: Message } {
  const refuse = (problem: Message) => ({ url: null, problem })
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return refuse(createMessage('base_not_whole'))
  if (url.username !== '' || url.password !== '') return refuse(createMessage('base_with_user'))
  if (/[?#]/.test(given)) return refuse(createMessage('base_with_query'))
  if (/\/webhooks(\/|$)/.test(url.pathname)) return refuse(createMessage('base_with_path'))
  return { url: url.href.replace(/\/+$/, '') }
}
