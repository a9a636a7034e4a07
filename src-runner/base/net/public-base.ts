import { say } from '../../kit/said.ts'

/**
 * The base of webhook addresses as a person gives it, without the slash at its end. A path in front is allowed: some
 * proxies have one. Else what is wrong with it, in a sentence.
 */
export function readPublicBase(given: string): { url: string; problem: '' } | { url: null; problem: string } {
  const refuse = (problem: string) => ({ url: null, problem })
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return refuse(say('base_not_whole'))
  if (url.username !== '' || url.password !== '') return refuse(say('base_with_user'))
  if (/[?#]/.test(given)) return refuse(say('base_with_query'))
  if (/\/webhooks(\/|$)/.test(url.pathname)) return refuse(say('base_with_path'))
  return { url: url.href.replace(/\/+$/, ''), problem: '' }
}
