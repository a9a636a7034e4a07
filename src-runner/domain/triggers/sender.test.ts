import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventNameOf, senderIdOf } from './sender.ts'

describe('senderIdOf', () => {
  it.each([
    ['Standard Webhooks', { 'webhook-id': 'msg_2KWP' }, {}, 'msg_2KWP'],
    ['Svix', { 'svix-id': 'msg_p5jX' }, {}, 'msg_p5jX'],
    ['GitHub', { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' }, { id: 1 }, '72d3162e-cc78-11e3-81ab-4c9367dc0958'],
    ['Shopify', { 'x-shopify-webhook-id': 'b54557e4' }, {}, 'b54557e4'],
    ['Stripe', {}, { id: 'evt_1MqqbKLt4dXK03v5', object: 'event', type: 'charge.succeeded' }, 'evt_1MqqbKLt4dXK03v5'],
    [
      'Stripe’s thin events',
      {},
      { id: 'evt_test_65R9Ijk8', object: 'v2.core.event', type: 'v1.billing.meter.error_report_triggered' },
      'evt_test_65R9Ijk8',
    ],
    ['Slack', {}, { type: 'event_callback', event_id: 'Ev08MFMKH6', event: { type: 'app_mention' } }, 'Ev08MFMKH6'],
  ])('finds the id of %s', (_, headers, payload, id) => {
    expect(senderIdOf(headers, payload, null)).toBe(id)
  })

  it('takes the id that the signature covers', () => {
    const headers = { 'webhook-id': 'added', 'svix-id': 'svix', 'x-github-delivery': 'github' }
    const stripe = { id: 'evt_1', object: 'event' }
    expect(senderIdOf(headers, stripe, 'stripe')).toBe('evt_1')
    expect(senderIdOf(headers, null, 'stripe')).toBeNull()
    expect(senderIdOf(headers, { type: 'event_callback', event_id: 'Ev1' }, 'slack')).toBe('Ev1')
    expect(senderIdOf({ ...headers, 'svix-signature': 'v1,x' }, stripe, 'standard_webhooks')).toBe('svix')
    expect(senderIdOf({ ...headers, 'webhook-signature': 'v1,x' }, stripe, 'standard_webhooks')).toBe('added')
  })

  it('ignores ids of other things', () => {
    expect(senderIdOf({}, { id: 'cus_1', object: 'customer' }, null)).toBeNull()
    expect(senderIdOf({ 'x-gitlab-webhook-uuid': 'of the subscription' }, { id: 7, event_id: 'x' }, null)).toBeNull()
  })

  it.each([
    ['empty', ''],
    ['longer than an id is', 'x'.repeat(201)],
    ['with a line feed', 'a\nb'],
    ['with letters that look like others', 'раypal'],
    ['with an escape', '\u001b[31m'],
  ])('ignores an id that is %s', (_, id) => {
    expect(senderIdOf({ 'webhook-id': id }, null, null)).toBeNull()
    expect(senderIdOf({}, { object: 'event', id }, null)).toBeNull()
  })

  it('reads own keys only, and accepts any payload', () => {
    expect(
      senderIdOf(Object.create({ 'webhook-id': 'inherited' }) as Record<string, string>, Object.create({ object: 'event', id: 'e' }), null),
    ).toBeNull()
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.jsonValue(), (headers, payload) => {
        expect(senderIdOf(headers, payload, null)).toBeNull()
        eventNameOf(headers, payload)
      }),
    )
  })
})

describe('eventNameOf', () => {
  it.each([
    ['GitHub', { 'x-github-event': 'push' }, { ref: 'refs/heads/main' }, 'push'],
    ['GitHub with an action', { 'x-github-event': 'issues' }, { action: 'opened' }, 'issues.opened'],
    ['GitLab', { 'x-gitlab-event': 'Push Hook' }, {}, 'Push Hook'],
    ['Shopify', { 'x-shopify-topic': 'orders/create' }, {}, 'orders/create'],
    ['Stripe', {}, { object: 'event', type: 'charge.succeeded' }, 'charge.succeeded'],
    ['Slack', {}, { type: 'event_callback', event: { type: 'app_mention' } }, 'app_mention'],
    ['Standard Webhooks', {}, { type: 'contact.created', data: {} }, 'contact.created'],
    ['nobody', {}, [1, 2], null],
    ['somebody with a name of a megabyte', { 'x-github-event': 'x'.repeat(1_000_000) }, { type: 7 }, null],
  ])('names the event of %s', (_, headers, payload, name) => {
    expect(eventNameOf(headers, payload)).toBe(name)
  })
})
