import { describe, expect, it } from 'vitest'
import { readPublicBase } from './public-base-url.ts'

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
