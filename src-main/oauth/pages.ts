import type { Translate } from '../../resources/locales/translate.ts'
import type { Language } from '../../resources/locales/texts.ts'
import { PAGE_HEADERS } from '../dashboard/hardening.ts'
import { text, type DashboardResponse } from '../dashboard/responses.ts'

export type PageSpeech = { t: Translate; locale: Language }

/**
 * Chromium applies `form-action` to where the response of a form redirects, and the form of this page leads to the service. Its only
 * script is `CONNECT_SCRIPT`, which sends the form to our own origin.
 */
const CONNECT_HEADERS = {
  ...PAGE_HEADERS,
  // Without a referrer Chromium sends `Origin: null` with a form, which the gate refuses.
  'referrer-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
}

/** Turns what is behind the # into the form that starts a sign-in. Nothing in it can lead to another origin. */
export const CONNECT_SCRIPT = `'use strict'
const [provider, authorization, token] = location.hash.slice(1).split('/')
history.replaceState(null, '', location.pathname)
if (/^[a-z0-9-]{1,100}$/.test(provider) && /^[0-9a-f-]{36}$/.test(authorization) && /^[\\w.-]{20,200}$/.test(token)) {
  const form = document.querySelector('form')
  form.action = '/api/oauth/' + provider + '/start'
  form.elements.authorization.value = authorization
  form.elements.token.value = token
  form.submit()
} else {
  document.querySelector('#opening').hidden = true
  document.querySelector('#over').hidden = false
}
`

const STYLE = `
:root { color-scheme: light dark; --canvas: light-dark(#f3f5f5, #0f1416); --surface: light-dark(#fff, #161c1f); --line: light-dark(#e1e6e7, #262e32);
  --ink: light-dark(#142126, #e8edef); --ink-2: light-dark(#455359, #b0bbc0); --ok: light-dark(#146a40, #5dc58c); --ok-soft: light-dark(#e1f3e9, #14301f);
  --bad: light-dark(#b1241a, #f58b80); --bad-soft: light-dark(#fdeae8, #3b1b18); --accent: light-dark(#0b6478, #49afc4); --accent-soft: light-dark(#e0eff2, #14323a) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--canvas); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { width: 100%; max-width: 420px; padding: 40px 32px; text-align: center; background: var(--surface); border: 1px solid var(--line); border-radius: 16px }
.mark { width: 56px; height: 56px; margin: 0 auto 20px; border-radius: 50%; display: grid; place-items: center }
.mark svg { width: 28px; height: 28px; fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round }
.ok { color: var(--ok); background: var(--ok-soft) } .bad { color: var(--bad); background: var(--bad-soft) } .wait { color: var(--accent); background: var(--accent-soft) }
h1 { margin: 0 0 8px; font-size: 20px; line-height: 1.3; text-wrap: balance } p { margin: 0; color: var(--ink-2); text-wrap: pretty; overflow-wrap: anywhere }
p + p { margin-top: 12px } .name { margin-top: 28px; font-size: 13px; letter-spacing: .02em }
`

const MARKS = {
  ok: '<path d="M5 12.5l4.5 4.5L19 7.5"/>',
  bad: '<path d="M12 7v6"/><path d="M12 17h.01"/>',
  wait: '<path d="M7 17L17 7"/><path d="M9 7h8v8"/>',
}

function card(mark: keyof typeof MARKS, title: string, lines: readonly string[]): string {
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`).join('')
  return `<div class="mark ${mark}"><svg viewBox="0 0 24 24" aria-hidden="true">${MARKS[mark]}</svg></div><h1>${escaped(title)}</h1>${paragraphs}`
}

function page({ t, locale }: PageSpeech, status: number, content: string, headers = PAGE_HEADERS): DashboardResponse {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(t('signInAtService.title'))}</title><style>${STYLE}</style>`
  const body = `<main>${content}<p class="name">Deckhand</p></main>`
  return text(
    status,
    headers,
    'text/html; charset=utf-8',
    `<!doctype html><html lang="${locale}"><head>${head}</head><body>${body}</body></html>`,
  )
}

/** Opened from Deckhand in the browser; goes on to the service by itself. */
export function connectPage(speech: PageSpeech): DashboardResponse {
  const { t } = speech
  const form = '<form method="post" hidden><input name="authorization"><input name="token"></form>'
  const opening = `<div id="opening">${card('wait', t('signInAtService.opening'), [t('signInAtService.openingText')])}</div>`
  const over = `<div id="over" hidden>${card('bad', t('signInAtService.linkOver'), [t('signInAtService.linkOverText')])}</div>`
  return page(speech, 200, `${opening}${over}${form}<script src="/connect.js"></script>`, CONNECT_HEADERS)
}

/** `next`: a path of our own, where it goes on to. A redirect would count as one of the service, whose requests are refused there. */
export function connectedPage(speech: PageSpeech, next: string | null): DashboardResponse {
  const onward = next === null ? '' : `<meta http-equiv="refresh" content="0; url=${escaped(next)}">`
  return page(speech, 200, onward + card('ok', speech.t('signInAtService.connected'), [speech.t('signInAtService.connectedText')]))
}

export function failedPage(speech: PageSpeech, status: number, problem: string): DashboardResponse {
  return page(speech, status, card('bad', speech.t('signInAtService.failed'), [problem, speech.t('signInAtService.failedText')]))
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
