import { t } from '../../../lib/language.ts'

export const PRESETS = ['github_push', 'github_issue', 'stripe_payment', 'shopify_order', 'generic'] as const
export type Preset = (typeof PRESETS)[number]

export function isPreset(text: string | undefined): text is Preset {
  return (PRESETS as readonly (string | undefined)[]).includes(text)
}

type Filled = { name: string; taskTemplate: string; sample: string; dedupe: boolean }

/** What a preset fills in. GitHub, Stripe and Shopify give each delivery an id, by which repeats are recognised. */
export function fillFrom(preset: Preset): Filled {
  return {
    name: t(`automations.webhook.presetNames.${preset}`),
    taskTemplate: t(`automations.webhook.presetTasks.${preset}`),
    sample: JSON.stringify(SAMPLES[preset], null, 2),
    dedupe: preset !== 'generic',
  }
}

/** The parts of real payloads that a task is likely to need. */
const SAMPLES: Record<Preset, unknown> = {
  github_push: {
    ref: 'refs/heads/main',
    repository: { full_name: 'ada/engine', html_url: 'https://github.com/ada/engine' },
    pusher: { name: 'ada' },
    compare: 'https://github.com/ada/engine/compare/1a2b3c…4d5e6f',
    head_commit: { id: '4d5e6f', message: 'Let the gears turn both ways', author: { name: 'Ada' } },
    commits: [{ id: '4d5e6f', message: 'Let the gears turn both ways', modified: ['gears.ts'] }],
  },
  github_issue: {
    action: 'opened',
    issue: {
      number: 42,
      title: 'The gears squeak',
      body: 'Since the last release they squeak at high speed.',
      html_url: 'https://github.com/ada/engine/issues/42',
      user: { login: 'grace' },
    },
    repository: { full_name: 'ada/engine' },
  },
  stripe_payment: {
    id: 'evt_1Example',
    type: 'payment_intent.succeeded',
    data: {
      object: { id: 'pi_1Example', amount: 4900, currency: 'eur', receipt_email: 'grace@example.com', description: 'A year of Engine' },
    },
  },
  shopify_order: {
    id: 5001,
    name: '#1001',
    total_price: '59.90',
    currency: 'EUR',
    customer: { first_name: 'Grace', last_name: 'H.' },
    line_items: [{ title: 'Gear, small', quantity: 3 }],
    note: 'Please ring twice.',
  },
  generic: { event: 'backup.failed', message: 'The disk of the office is nearly full.' },
}
