import examples from '@octokit/webhooks-examples'
import { describe, expect, it } from 'vitest'
import { STRIPE_EVENTS } from '../../testing/webhook-payloads/stripe-events.ts'
import { eventNameOf, senderIdOf } from './sender.ts'
import { renderTemplate } from './template.ts'

type Found = { path: string; value: unknown }

/** Every value in a payload that has a path of names and dots. */
function valuesIn(value: unknown, path = ''): Found[] {
  const here = path === '' ? [] : [{ path, value }]
  if (typeof value !== 'object' || value === null) return here
  const inner = Object.entries(value).filter(([key]) => !key.includes('.') && key.trim() !== '')
  return [...here, ...inner.flatMap(([key, child]) => valuesIn(child, path === '' ? key : `${path}.${key}`))]
}

function expectNoSurprise(payload: unknown): void {
  const values = valuesIn(payload)
  expect(values.length).toBeGreaterThan(3)
  const scalars = values.filter(({ value }) => typeof value !== 'object' || value === null)
  const lines = renderTemplate(scalars.map(({ path }) => `{${path}}`).join('\u0001'), payload)
  expect(lines.placeholders.filter(({ state }) => state !== 'filled')).toEqual([])
  expect(lines.text.split('\u0001')).toEqual(scalars.map(({ value }) => String(value)))
  for (const { path, value } of values) {
    if (typeof value === 'object' && value !== null) expect(JSON.parse(renderTemplate(`{${path}}`, payload).text)).toEqual(value)
  }
}

describe('payloads of GitHub', () => {
  const events = (examples as unknown as { name: string; examples: object[] }[]).flatMap(({ name, examples: payloads }) =>
    payloads.map((payload) => ({ name, payload })),
  )

  it('have every value at its path in every published example', () => {
    expect(events.length).toBeGreaterThan(300)
    for (const { payload } of events) expectNoSurprise(payload)
  })

  it.each([
    ['issues', 'Triage #{issue.number} "{issue.title}" by {issue.user.login}.', /^Triage #\d+ ".+" by \S+\.$/],
    ['push', '{pusher.name} pushed to {ref} of {repository.full_name}.', /^\S+ pushed to refs\/\S+ of \S+\/\S+\.$/],
    ['pull_request', 'Review {pull_request.html_url} ({action}).', /^Review https:\/\/\S+ \(\w+\)\.$/],
    ['issue_comment', '{comment.user.login} wrote: {comment.body}', /^\S+ wrote: [^]+$/],
    ['release', '{release.name}{release.tag_name} has {release.assets}', /^\S+ has \[.*\]$/],
    ['workflow_run', 'Run {workflow_run.id} ended with {workflow_run.conclusion}.', /^Run \d+ ended with \w+\.$/],
  ])('fill a typical template with %s', (name, template, fits) => {
    const payloads = events.filter((event) => event.name === name)
    expect(payloads.length).toBeGreaterThan(0)
    let fitting = 0
    for (const { payload } of payloads) {
      const { text, placeholders } = renderTemplate(template, payload)
      if (placeholders.some(({ state }) => state === 'missing')) continue
      expect(text).toMatch(fits)
      fitting++
    }
    expect(fitting).toBeGreaterThan(0)
  })

  it('have an event name', () => {
    for (const { name, payload } of events) {
      const { action } = payload as { action?: string }
      expect(eventNameOf({ 'x-github-event': name }, payload)).toBe(action === undefined ? name : `${name}.${action}`)
    }
  })
})

describe('payloads of Stripe', () => {
  it.each(STRIPE_EVENTS.map((event) => [event.type, event] as const))('have every value at its path: %s', (type, event) => {
    const payload: unknown = JSON.parse(JSON.stringify(event))
    expectNoSurprise(payload)
    expect(senderIdOf({}, payload, 'stripe')).toBe(event.id)
    expect(eventNameOf({}, payload)).toBe(type)
  })

  it('fill typical templates', () => {
    const render = (type: string, template: string) =>
      renderTemplate(
        template,
        STRIPE_EVENTS.find((event) => event.type === type),
      ).text
    expect(render('charge.succeeded', '{data.object.billing_details.name} paid {data.object.amount} {data.object.currency}.')).toBe(
      'Ada Lovelace paid 2050 chf.',
    )
    expect(render('charge.succeeded', 'Note: {data.object.metadata.Gift note}')).toBe('Note: Happy {birthday}!')
    expect(render('invoice.payment_failed', '{data.object.lines.data.0.description}; try {data.object.attempt_count}')).toBe(
      '1 × Team (at €45.00 / month); try 2',
    )
    expect(render('customer.subscription.updated', 'Before: {data.previous_attributes}')).toBe(
      'Before: {"cancel_at_period_end":false,"cancellation_details":{"feedback":null,"reason":null}}',
    )
  })
})
