import { expect, it } from 'vitest'
import { isLocalName, readWebAddress } from './web-address.ts'

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
