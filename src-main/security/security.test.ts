import { describe, expect, it } from 'vitest'
import { refuseUnsafeArguments } from './arguments.ts'
import { externalUrl } from './external-url.ts'
import { isOwnPage, mayAskDesktop } from './own-page.ts'

describe('a link to open in the browser', () => {
  it.each(['https://example.org/a?b#c', 'http://127.0.0.1:8080/', 'HTTPS://EXAMPLE.ORG'])('%s', (text) => {
    expect(externalUrl(text)?.href).toBe(new URL(text).href)
  })

  it.each([
    'file:///etc/passwd',
    'smb://host/share',
    'ms-msdt:/id',
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'app://deckhand/',
    'mailto:a@b.example',
    'https://user@example.org',
    'https://user:pass@example.org',
    'https://bank.example@evil.example',
    '//example.org',
    '/etc/passwd',
    'C:\\Windows',
    '',
    'https://',
  ])('is not %s', (text) => {
    expect(externalUrl(text)).toBeNull()
  })
})

describe('a call to the desktop', () => {
  it.each([
    ['our page', { url: 'app://deckhand/jobs/1', parent: null }, true],
    ['a frame in it', { url: 'app://deckhand/', parent: {} }, false],
    ['another page', { url: 'https://evil.example/', parent: null }, false],
    ['a page that looks like ours', { url: 'app://deckhand.evil.example/', parent: null }, false],
    ['another host of the scheme', { url: 'app://other/', parent: null }, false],
    ['the page of last resort', { url: 'data:text/html,x', parent: null }, false],
    ['a frame that is gone', null, false],
  ])('%s: %o', (_case, frame, expected) => {
    expect(mayAskDesktop(frame)).toBe(expected)
    if (frame?.parent === null) expect(isOwnPage(frame.url)).toBe(expected)
  })
})

describe('the arguments of an installed app', () => {
  it.each([
    '--inspect',
    '--inspect=0.0.0.0:9229',
    '--inspect-brk',
    '-inspect',
    '/inspect',
    '--INSPECT',
    '--remote-debugging-port=9222',
    '--remote-debugging-pipe',
    '--no-sandbox',
    '--disable-web-security',
    '--js-flags=--expose-gc',
    '--renderer-cmd-prefix=xterm -e gdb',
    '--load-extension=/tmp/x',
    ' --inspect',
    '\t--remote-debugging-port=9222',
  ])('may not be %s', (arg) => {
    expect(() => refuseUnsafeArguments(['/opt/Deckhand/deckhand', 'deckhand://open/chat', arg])).toThrow(/does not take the argument/)
  })

  it.each([
    '--hidden',
    '--ozone-platform=wayland',
    '--disable-gpu',
    '--password-store=basic',
    'deckhand://open/inspect',
    '/tmp/inspect',
    '--',
  ])('may be %s', (arg) => expect(() => refuseUnsafeArguments(['/opt/Deckhand/deckhand', arg])).not.toThrow())
})
