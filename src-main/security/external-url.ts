/**
 * What may be opened in the browser: http and https, without a user name, which would make
 * `https://bank.example@evil.example` look like the bank. Other schemes could start any program.
 */
export function externalUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const fits = (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' && url.hostname !== ''
  return fits ? url : null
}
