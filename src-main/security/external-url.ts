/**
 * What may be opened in the system's browser: http and https, and no address with a user name in it, which would let
 * `https://bank.example@evil.example` look like the bank. Everything else could start any program of the machine.
 */
export function externalUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const fits = (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' && url.hostname !== ''
  return fits ? url : null
}
