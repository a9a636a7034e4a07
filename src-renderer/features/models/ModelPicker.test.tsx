import { screen, waitFor } from '@solidjs/testing-library'
import { createSignal } from 'solid-js'
import { expect, it } from 'vitest'
import type { ModelRef } from '../../../src-runner/contract/agents.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeModel } from '../../testing/things.ts'
import { ModelPicker } from './ModelPicker.tsx'
import { keyOfModel, modelOfKey } from './model-key.ts'

const runner = () =>
  createFakeRunner({
    listModels: () => ({
      models: [
        makeModel({
          providerId: 'p1',
          providerName: 'Harbour',
          model: 'meta/llama-3',
          label: 'Llama 3',
          price: null,
          priceOrigin: 'unknown',
        }),
        makeModel({ providerId: 'p1', providerName: 'Harbour', model: 'qwen', label: 'Qwen' }),
        makeModel({ providerId: 'p2', providerName: 'Work', model: 'qwen', label: 'Qwen' }),
      ],
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
  })

it('finds a model by typing, and shows its price and provider', async () => {
  const [chosen, setChosen] = createSignal<ModelRef | null>(null)
  const { user } = renderScreen(() => <ModelPicker label="Model" value={chosen()} onValue={setChosen} />, { runner: runner() })
  const field = await screen.findByRole('combobox', { name: 'Model' })
  await waitFor(() => expect(field).toHaveAttribute('placeholder', 'Search models'))
  await user.click(field)
  expect(await screen.findByRole('option', { name: /Llama 3/ })).toHaveTextContent('unpriced')
  await user.keyboard('work qw')
  await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(1))
  await user.keyboard('{ArrowDown}{Enter}')
  expect(chosen()).toEqual({ providerId: 'p2', model: 'qwen' })
  expect(field).toHaveValue('Qwen')
})

it('keeps a chosen model that is not listed now', async () => {
  renderScreen(() => <ModelPicker label="Model" value={{ providerId: 'gone', model: 'gpt-9' }} onValue={() => {}} />, { runner: runner() })
  const field = await screen.findByRole('combobox', { name: 'Model' })
  await waitFor(() => expect(field).toHaveValue('gpt-9 (not listed)'))
})

it('converts a model to a key and back, with slashes', () => {
  const model = { providerId: 'p1', model: 'meta/llama-3/8b' }
  expect(modelOfKey(keyOfModel(model))).toEqual(model)
})

it('offers all models when opened', async () => {
  const { user } = renderScreen(() => <ModelPicker label="Model" value={{ providerId: 'p1', model: 'qwen' }} onValue={() => {}} />, {
    runner: runner(),
  })
  const field = await screen.findByRole('combobox', { name: 'Model' })
  await waitFor(() => expect(field).toHaveValue('Qwen'))
  await user.click(field)
  await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(3))
})
