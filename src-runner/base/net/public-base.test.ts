import { describe, expect, it } from 'vitest'
import { readPublicBase } from './public-base.ts'

describe('the base of webhook addresses', () => {
  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com/', 'https://hooks.example.com'],
    ['HTTPS://Hooks.Example.com:443//', 'https://hooks.example.com'],
    ['https://example.com/deckhand/', 'https://example.com/deckhand'],
    ['http://192.168.1.5:3002', 'http://192.168.1.5:3002'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('of %s is %s', (given, url) => expect(readPublicBase(given)).toEqual({ url, problem: '' }))

  it.each([
    ['hooks.example.com', /whole address/],
    ['ftp://example.com', /whole address/],
    ['javascript:alert(1)', /whole address/],
    ['https://', /whole address/],
    ['https://ann:secret@example.com', /user name/],
    ['https://ann@example.com', /user name/],
    ['https://example.com/?a=b', /question mark/],
    ['https://example.com/?', /question mark/],
    ['https://example.com/#', /question mark/],
    ['https://example.com/webhooks', /Leave out/],
    ['https://example.com/webhooks/orders/s3cret', /Leave out/],
  ])('is not %s', (given, problem) => {
    const refused = readPublicBase(given)
    expect([refused.url, refused.problem]).toEqual([null, expect.stringMatching(problem)])
    expect(refused.problem).not.toContain('secret')
  })
})
