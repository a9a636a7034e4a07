import { describe, expect, it } from 'vitest'
import { isLocalName, readPublicBase, readWebAddress } from './web-address.ts'

it.each([
  ['https://Example.COM/Path?q=A#part', 'https://example.com/Path?q=A'],
  ['https://example.com:443', 'https://example.com/'],
  ['https://example.com./x', 'https://example.com/x'],
  ['https://example.com/%61%64min/%2e%2E/x%2Fy', 'https://example.com/x%2Fy'],
  ['https://example.com/%61%64min/%7euser', 'https://example.com/admin/~user'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['http://１２７.０.０.１/', 'http://127.0.0.1/'],
  ['http://127.0.0.1../', 'http://127.0.0.1/'],
  [' https://example.com/a\n', 'https://example.com/a'],
])('normalizes %j to %s', (text, spelled) => expect(readWebAddress(text).href).toBe(spelled))

it.each([
  ['example.com', /whole address/],
  ['', /whole address/],
  ['http://', /whole address/],
  ['http://1.2.3.4.5/', /whole address/],
  ['http://a b/', /whole address/],
  ['file:///etc/passwd', /not file:/],
  ['gopher://example.com/', /not gopher:/],
  ['data:text/plain,x', /not data:/],
  ['ftp://example.com/', /not ftp:/],
  ['javascript:alert(1)', /not javascript:/],
  ['blob:https://example.com/x', /not blob:/],
  ['https://me@example.com/', /user name or a password/],
  ['https://:secret@example.com/', /user name or a password/],
  ['https://example.com:25/', /Port 25/],
  ['https://example.com:6379/', /Port 6379/],
  [`https://example.com/${'x'.repeat(9_000)}`, /at most 8000/],
])('refuses %j', (text, reason) => expect(() => readWebAddress(text)).toThrow(reason))

it.each([
  'localhost',
  'a.localhost',
  'printer.local',
  'metadata.google.internal',
  'nas',
  'router.lan',
  'x.home.arpa',
  'localhost.localdomain',
])('treats %s as a local name', (host) => expect(isLocalName(host)).toBe(true))

it.each(['example.com', 'mylocalhost.com', 'local.example', 'internal.example.com'])('does not treat %s as a local name', (host) =>
  expect(isLocalName(host)).toBe(false),
)

describe('the base address for webhooks', () => {
  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com/', 'https://hooks.example.com'],
    ['HTTPS://Hooks.Example.com:443//', 'https://hooks.example.com'],
    ['https://example.com/deckhand/', 'https://example.com/deckhand'],
    ['http://192.168.1.5:3002', 'http://192.168.1.5:3002'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('reads %s as %s', (given, url) => expect(readPublicBase(given)).toEqual({ url }))

  it.each([
    ['hooks.example.com', 'base_not_whole'],
    ['ftp://example.com', 'base_not_whole'],
    ['javascript:alert(1)', 'base_not_whole'],
    ['https://', 'base_not_whole'],
    ['https://ann:secret@example.com', 'base_with_user'],
    ['https://ann@example.com', 'base_with_user'],
    ['https://example.com/?a=b', 'base_with_query'],
    ['https://example.com/?', 'base_with_query'],
    ['https://example.com/#', 'base_with_query'],
    ['https://example.com/webhooks', 'base_with_path'],
    ['https://example.com/webhooks/orders/s3cret', 'base_with_path'],
  ] as const)('refuses %s', (given, code) => {
    expect(readPublicBase(given)).toEqual({ url: null, problem: { code, params: {} } })
  })
})
