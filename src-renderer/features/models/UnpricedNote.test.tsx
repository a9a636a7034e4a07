import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeModel } from '../../testing/things.ts'
import { UnpricedNote } from './UnpricedNote.tsx'

const unpriced = makeModel({ model: 'gateway-large', label: 'Gateway Large', price: null, priceOrigin: 'unknown' })
const priced = makeModel({ providerId: unpriced.providerId, model: 'known', label: 'Known', priceOrigin: 'package' })
const refOf = ({ providerId, model }: typeof priced) => ({ providerId, model })

function show(model: typeof priced | null, fallbacks: (typeof priced)[] = []) {
  const runner = createFakeRunner({
    listModels: () => ({ models: [unpriced, priced], problems: [], defaultModel: refOf(unpriced), nextCursor: null }),
    getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, defaultModel: refOf(unpriced) } }),
  })
  const agent = makeAgent({ model: model === null ? null : refOf(model), fallbacks: fallbacks.map(refOf) })
  renderScreen(() => <UnpricedNote agents={[agent]} />, { runner, route: '/', path: '/' })
  return runner
}

it.each([
  ['its own model', unpriced, []],
  ['the default model', null, []],
  ['a fallback', priced, [unpriced]],
] as const)('says that a limit does not hold %s when it has no price', async (_what, model, fallbacks) => {
  show(model, [...fallbacks])
  expect(await screen.findByRole('note')).toHaveTextContent('No price is known for Gateway Large, so this limit does not cover its calls.')
  expect(screen.getByRole('link', { name: 'Set price' })).toHaveAttribute('href', '/models')
})

it('shows nothing when all models have a price', async () => {
  const runner = show(priced)
  await expect.poll(() => runner.callsOf('listModels').length).toBe(1)
  expect(screen.queryByRole('note')).toBeNull()
})
