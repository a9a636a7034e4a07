/**
 * The base of webhook addresses as a person gives it, without the slash at its end. A path in front is allowed: some
 * proxies have one. Else what is wrong with it, in a sentence.
 */
export function readPublicBase(given: string): { url: string; problem: '' } | { url: null; problem: string } {
  const refuse = (problem: string) => ({ url: null, problem })
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return refuse('Write the whole address, like https://hooks.example.com.')
  if (url.username !== '' || url.password !== '') return refuse('The address must not contain a user name or password.')
  if (/[?#]/.test(given)) return refuse('The address must end before the question mark or hash.')
  if (/\/webhooks(\/|$)/.test(url.pathname)) return refuse('Leave out /webhooks and what follows: it is added for each webhook.')
  return { url: url.href.replace(/\/+$/, ''), problem: '' }
}
