/**
 * Events in the shape that https://docs.stripe.com/api/events/object and the pages of the objects in them document, with
 * what tests need: amounts in cents, nulls beside objects, lists inside `{object: 'list', data}`, `previous_attributes`.
 * The `stripe` package ships no examples.
 */
type StripeEvent = { id: string; object: 'event'; type: string; data: { object: object; previous_attributes?: object } } & Record<
  string,
  unknown
>

function eventOf(type: string, object: object, previous_attributes?: object): StripeEvent {
  return {
    id: `evt_1R${type
      .replaceAll(/[^a-z]/g, '')
      .padEnd(22, '0')
      .slice(0, 22)}`,
    object: 'event',
    api_version: '2025-08-27.basil',
    created: 1_790_000_000,
    data: previous_attributes === undefined ? { object } : { object, previous_attributes },
    livemode: false,
    pending_webhooks: 1,
    request: { id: 'req_7gKq0Zb1LzVwXY', idempotency_key: '0b6f1a3e-5a4e-4f5e-9d6b-3d1b6d3c7c11' },
    type,
  }
}

const ADDRESS = { city: 'Zürich', country: 'CH', line1: 'Bahnhofstrasse 1', line2: null, postal_code: '8001', state: null }
const CUSTOMER = { customer: 'cus_QXg1oaPq3HMLfJ', customer_email: 'ada@example.com', customer_name: 'Ada Lovelace' }

export const STRIPE_EVENTS: readonly StripeEvent[] = [
  eventOf('charge.succeeded', {
    id: 'ch_3RXg1oLkdIwHu7ix0aB1cD2e',
    object: 'charge',
    amount: 2_050,
    amount_refunded: 0,
    balance_transaction: 'txn_3RXg1oLkdIwHu7ix0pQ9rS8t',
    billing_details: { address: ADDRESS, email: 'ada@example.com', name: 'Ada Lovelace', phone: null },
    captured: true,
    currency: 'chf',
    description: 'Order #1042 – "Grüße" 😀',
    failure_message: null,
    fraud_details: {},
    metadata: { order_id: '1042', 'Gift note': 'Happy {birthday}!' },
    outcome: { network_status: 'approved_by_network', risk_level: 'normal', risk_score: 12, type: 'authorized' },
    payment_method_details: { card: { brand: 'visa', checks: { cvc_check: 'pass' }, last4: '4242' }, type: 'card' },
    refunds: { object: 'list', data: [], has_more: false, url: '/v1/charges/ch_3RXg1oLkdIwHu7ix0aB1cD2e/refunds' },
    status: 'succeeded',
  }),
  eventOf('payment_intent.payment_failed', {
    id: 'pi_3RXg1oLkdIwHu7ix1fG2hI3j',
    object: 'payment_intent',
    amount: 9_900,
    currency: 'eur',
    last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds', message: 'Your card has insufficient funds.' },
    metadata: {},
    next_action: null,
    payment_method_types: ['card', 'sepa_debit'],
    status: 'requires_payment_method',
  }),
  eventOf('invoice.payment_failed', {
    id: 'in_1RXg1oLkdIwHu7ixKlMnOpQr',
    object: 'invoice',
    ...CUSTOMER,
    amount_due: 4_900,
    attempt_count: 2,
    hosted_invoice_url: 'https://invoice.example.com/i/acct_1/test_x?s=ap',
    lines: {
      object: 'list',
      data: [
        { id: 'il_1', object: 'line_item', amount: 4_500, description: '1 × Team (at €45.00 / month)', quantity: 1, metadata: {} },
        { id: 'il_2', object: 'line_item', amount: 400, description: 'Tax', quantity: null, metadata: {} },
      ],
      has_more: false,
    },
    next_payment_attempt: 1_790_259_200,
    number: 'A1B2C3D4-0007',
    total_taxes: [{ amount: 400, tax_behavior: 'exclusive' }],
  }),
  eventOf(
    'customer.subscription.updated',
    {
      id: 'sub_1RXg1oLkdIwHu7ixStUvWxYz',
      object: 'subscription',
      cancel_at_period_end: true,
      cancellation_details: { comment: null, feedback: 'too_expensive', reason: 'cancellation_requested' },
      customer: CUSTOMER.customer,
      items: { object: 'list', data: [{ id: 'si_1', price: { id: 'price_1', unit_amount: 4_500, recurring: { interval: 'month' } } }] },
      status: 'active',
    },
    { cancel_at_period_end: false, cancellation_details: { feedback: null, reason: null } },
  ),
  eventOf('checkout.session.completed', {
    id: 'cs_test_a1b2c3d4e5f6',
    object: 'checkout.session',
    amount_total: 3_200,
    custom_fields: [{ key: 'engraving', label: { custom: 'Engraving', type: 'custom' }, text: { value: 'To A.\nwith love' } }],
    customer_details: { address: ADDRESS, email: 'ada@example.com', name: 'Ada Lovelace', tax_exempt: 'none', tax_ids: [] },
    mode: 'payment',
    payment_status: 'paid',
    total_details: { amount_discount: 0, amount_shipping: 700, amount_tax: 0 },
  }),
  eventOf('charge.dispute.created', {
    id: 'dp_1RXg1oLkdIwHu7ixAaBbCcDd',
    object: 'dispute',
    amount: 2_050,
    charge: 'ch_3RXg1oLkdIwHu7ix0aB1cD2e',
    evidence: { customer_communication: null, uncategorized_text: null },
    evidence_details: { due_by: 1_790_864_000, has_evidence: false, past_due: false, submission_count: 0 },
    reason: 'fraudulent',
    status: 'needs_response',
  }),
  eventOf('payout.paid', {
    id: 'po_1RXg1oLkdIwHu7ixEeFfGgHh',
    object: 'payout',
    amount: 125_000,
    arrival_date: 1_790_100_000,
    destination: 'ba_1RXg1oLkdIwHu7ixIiJjKkLl',
    method: 'standard',
    statement_descriptor: null,
    trace_id: { status: 'supported', value: '011000028' },
  }),
]
