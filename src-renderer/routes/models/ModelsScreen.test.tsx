import { quote } from '../../testing/things.ts'
import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeId, makeModel, makeProvider } from '../../testing/things.ts'
import { ModelsScreen } from './ModelsScreen.tsx'
import { readAmount } from './PriceDialog.tsx'

const KEY = 'sk-ant-not-a-real-key'

it('adds a provider, checks it at once, and makes its best model the default if there was none', async () => {
  const provider = makeProvider()
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    checkProvider: () => ({ ok: true, models: 2, message: null }),
    listModels: () => ({
      models: ['claude-haiku-4-5', 'claude-sonnet-4-5'].map((model) =>
        makeModel({ providerId: provider.id, providerName: 'Anthropic', providerKind: 'anthropic', model, label: model }),
      ),
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
    updateSettings: ({ body }) => ({ settings: { ...DEFAULT_SETTINGS, ...body } }),
  })
  const { user, path } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  await user.click(await screen.findByRole('button', { name: 'Add provider' }))
  const dialog = await screen.findByRole('dialog', { name: 'Add provider' })
  expect(path()).toBe('/models?add=1')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  expect(within(dialog).getByLabelText('API key')).toHaveAccessibleDescription('Enter an API key.')
  expect(runner.callsOf('createProvider')).toEqual([])
  expect(within(dialog).getByLabelText('API key')).toHaveAttribute('type', 'password')
  await user.type(within(dialog).getByLabelText('API key'), KEY)
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(runner.callsOf('createProvider')[0]!.body).toEqual({ kind: 'anthropic', name: 'Anthropic', apiKey: KEY })
  expect(runner.callsOf('updateSettings')[0]!.body).toEqual({ defaultModel: { providerId: provider.id, model: 'claude-sonnet-4-5' } })
  expect(document.body).not.toHaveTextContent(KEY)
})

it('forgets what a check found when the provider gets another key', async () => {
  const provider = makeProvider()
  let isGood = false
  const runner = createFakeRunner({
    listProviders: () => ({ providers: [provider], nextCursor: null }),
    updateProvider: () => ({ provider, keyRemoved: false }),
    checkProvider: () => ({ ok: isGood, models: isGood ? 1 : 0, message: isGood ? null : quote('The key was refused.') }),
    listModels: () => ({ models: [makeModel({ providerId: provider.id })], problems: [], defaultModel: null, nextCursor: null }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  const press = async (item: string) => {
    await user.click(await screen.findByRole('button', { name: `Actions for ${provider.name}` }))
    await user.click(await screen.findByRole('menuitem', { name: item }))
  }
  await press('Check now')
  expect(await screen.findByText('The key was refused.')).toBeVisible()
  isGood = true
  await press('Edit…')
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('API key'), KEY)
  await user.click(within(dialog).getByRole('button', { name: /^Save/ }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(screen.queryByText('The key was refused.')).toBeNull()
})

it('shows the provider’s refusal, retries with another key, and removes it when cancelled', async () => {
  const provider = makeProvider()
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    updateProvider: () => ({ provider, keyRemoved: false }),
    deleteProvider: () => ({ ok: true }),
    checkProvider: () => ({ ok: false, models: 0, message: quote('The key was refused by Anthropic.') }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=anthropic' })
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('API key'), 'wrong')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The key was refused by Anthropic.')
  await user.type(within(dialog).getByLabelText('API key'), '-too')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(runner.callsOf('updateProvider')).toHaveLength(1))
  expect(runner.callsOf('createProvider')).toHaveLength(1)
  expect(runner.callsOf('updateProvider')[0]!.body.apiKey).toBe('wrong-too')
  await waitFor(() => expect(within(dialog).getByRole('button', { name: 'Connect' })).toBeEnabled())
  await user.keyboard('{Escape}')
  await user.click(await screen.findByRole('button', { name: 'Discard changes' }))
  await waitFor(() => expect(runner.callsOf('deleteProvider')).toHaveLength(1))
})

it('removes a refused key from a provider that needs none when its field is emptied', async () => {
  const provider = makeProvider({ kind: 'openai-compatible', baseUrl: 'http://10.0.0.9/v1' })
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    updateProvider: () => ({ provider, keyRemoved: false }),
    checkProvider: () => ({ ok: false, models: 0, message: quote('The key was refused.') }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=openai-compatible' })
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByRole('textbox', { name: /Base URL/ }), 'http://10.0.0.9/v1')
  await user.type(within(dialog).getByLabelText(/API key/), 'wrong')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await within(dialog).findByRole('alert')
  await user.clear(within(dialog).getByLabelText(/API key/))
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(runner.callsOf('updateProvider')).toHaveLength(1))
  expect(runner.callsOf('updateProvider')[0]!.body.apiKey).toBeNull()
})

it('adds no second provider after a check that could not be made', async () => {
  const provider = makeProvider()
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    updateProvider: () => ({ provider, keyRemoved: false }),
    checkProvider: () => new Refusal('database_unavailable'),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=anthropic' })
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('API key'), KEY)
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await within(dialog).findByRole('alert')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(runner.callsOf('updateProvider')).toHaveLength(1))
  expect(runner.callsOf('createProvider')).toHaveLength(1)
})

it('shows the state of each provider, and asks by name before it removes one', async () => {
  const good = makeProvider({ name: 'Work' })
  const bad = makeProvider({ name: 'Garage', kind: 'openai-compatible', baseUrl: 'http://10.0.0.9/v1', hasKey: false })
  const runner = createFakeRunner({
    listProviders: () => ({ providers: [good, bad], nextCursor: null }),
    listModels: () => ({
      models: [makeModel({ providerId: good.id, providerName: 'Work', model: 'm1', label: 'm1', price: null, priceOrigin: 'unknown' })],
      problems: [{ providerId: bad.id, providerName: 'Garage', message: quote('Nothing answers at 10.0.0.9.') }],
      defaultModel: null,
      nextCursor: null,
    }),
    deleteProvider: () => new Refusal('provider_in_use', '', undefined, { code: 'provider_of_agent', params: { agentName: 'Notes' } }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  expect(await screen.findByText('Connected · 1 model')).toBeVisible()
  expect(screen.getByText('Nothing answers at 10.0.0.9.')).toBeVisible()
  expect(screen.getByText('No price')).toBeVisible()
  screen.getByRole('button', { name: 'Actions for Work' }).focus()
  await user.keyboard('{Enter}')
  await user.click(await screen.findByRole('menuitem', { name: 'Remove…' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Remove Work?' })
  await user.click(within(dialog).getByRole('button', { name: 'Remove' }))
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The agent “Notes” uses this provider.')
})

it('offers servers found on this machine and adds one with a click', async () => {
  const runner = createFakeRunner({
    listFoundServers: () => ({
      servers: [{ kind: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434', models: ['qwen3:8b', 'llama3.2'] }],
    }),
    createProvider: () => ({ provider: makeProvider({ kind: 'ollama', name: 'Ollama' }) }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  expect(await screen.findByText('2 models · http://127.0.0.1:11434')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Add' }))
  await waitFor(() =>
    expect(runner.callsOf('createProvider')[0]!.body).toEqual({ kind: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434' }),
  )
})

it('leaves the known price, which says more than the fields, if it is saved unchanged', async () => {
  const model = { providerId: makeId(), model: 'm1' }
  const price = { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cachedInputUsdPerMillion: 0.3 }
  const runner = createFakeRunner({
    listModels: () => ({
      models: [makeModel({ ...model, providerName: 'Work', label: 'Model One', price, priceOrigin: 'package' })],
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  ;(await screen.findByRole('button', { name: /Model One/ })).focus()
  await user.keyboard('{Enter}')
  await user.click(await screen.findByRole('menuitem', { name: 'Set price…' }))
  const dialog = await screen.findByRole('dialog')
  await user.click(within(dialog).getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(runner.callsOf('setModelPrice')).toEqual([])
})

it('sets a custom price', async () => {
  const model = { providerId: makeId(), model: 'm1' }
  const runner = createFakeRunner({
    listModels: () => ({
      models: [makeModel({ ...model, providerName: 'Work', label: 'Model One', price: null, priceOrigin: 'unknown' })],
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
    setModelPrice: () => ({ ok: true }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  const actions = await screen.findByRole('button', { name: 'Actions for Model One' })
  actions.focus()
  await user.keyboard('{Enter}')
  await user.click(await screen.findByRole('menuitem', { name: 'Set price…' }))
  const dialog = await screen.findByRole('dialog', { name: 'Price of Model One' })
  await user.type(within(dialog).getByLabelText('Input'), '2,50')
  await user.type(within(dialog).getByLabelText('Output'), 'ten')
  await user.click(within(dialog).getByRole('button', { name: 'Save' }))
  expect(within(dialog).getByLabelText('Output')).toBeInvalid()
  expect(runner.callsOf('setModelPrice')).toEqual([])
  await user.clear(within(dialog).getByLabelText('Output'))
  await user.type(within(dialog).getByLabelText('Output'), '10')
  await user.click(within(dialog).getByRole('button', { name: 'Save' }))
  await waitFor(() =>
    expect(runner.callsOf('setModelPrice')[0]!.body).toEqual({ model, price: { inputUsdPerMillion: 2.5, outputUsdPerMillion: 10 } }),
  )
})

it('searches models and keeps the search in the URL', async () => {
  const runner = createFakeRunner({
    listModels: () => ({
      models: ['alpha large', 'alpha small', 'beta'].map((label) => makeModel({ model: label.replace(' ', '-'), label })),
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
  })
  const { user, path } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models' })
  await screen.findByText('beta')
  await user.type(screen.getByRole('searchbox', { name: 'Search models' }), 'small al')
  expect(screen.getByText('alpha small')).toBeVisible()
  expect(screen.queryByText('beta')).toBeNull()
  expect(path()).toContain('q=small')
  await user.type(screen.getByRole('searchbox', { name: 'Search models' }), 'xyz')
  expect(await screen.findByText('No results for “small alxyz”')).toBeVisible()
})

it.each([
  ['2.50', 2.5],
  [' 2,5 ', 2.5],
  ['1,250', 1250],
  ['1 250.5', 1250.5],
  ['.5', 0.5],
  ['0', 0],
  ['', null],
  ['-1', null],
  ['1e5', null],
  ['1.2.3', null],
  ['99999999', null],
])('reads the amount %j as %s', (text, amount) => {
  expect(readAmount(text)).toBe(amount)
})

it('offers after the first provider to move agents off the demo', async () => {
  const provider = makeProvider()
  const demo = { providerId: 'demo', model: 'demo' }
  const onDemo = makeAgent({ name: 'Ada', model: demo })
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    listProviders: () => ({ providers: [provider], nextCursor: null }),
    checkProvider: () => ({ ok: true, models: 1, message: null }),
    listModels: () => ({
      models: [
        makeModel({
          providerId: provider.id,
          providerName: 'Anthropic',
          providerKind: 'anthropic',
          model: 'claude-sonnet-5',
          label: 'Sonnet 5',
        }),
      ],
      problems: [],
      defaultModel: demo,
      nextCursor: null,
    }),
    listAgents: () => ({ agents: [onDemo, makeAgent({ name: 'Bob', model: null })], nextCursor: null }),
    getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, defaultModel: demo } }),
    updateSettings: ({ body }) => ({ settings: { ...DEFAULT_SETTINGS, ...body } }),
    updateAgent: () => ({ agent: { ...onDemo, model: null } }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=anthropic' })
  const dialog = await screen.findByRole('dialog', { name: 'Add provider' })
  await user.type(within(dialog).getByLabelText('API key'), KEY)
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  const question = await screen.findByRole('alertdialog', { name: 'Use Sonnet 5 by default?' })
  expect(question).toHaveTextContent('Ada')
  expect(question).not.toHaveTextContent('Bob')
  expect(runner.callsOf('updateSettings')).toEqual([])
  await user.click(within(question).getByRole('button', { name: 'Use Sonnet 5' }))
  await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull())
  expect(runner.callsOf('updateSettings')[0]!.body).toEqual({ defaultModel: { providerId: provider.id, model: 'claude-sonnet-5' } })
  expect(runner.callsOf('updateAgent').map(({ params, body }) => [params, body])).toEqual([[{ agentId: onDemo.id }, { model: null }]])
})

it('offers nothing when a model was chosen before, or when a provider is only changed', async () => {
  const provider = makeProvider()
  const chosen = { providerId: makeId(), model: 'claude-opus-5' }
  const runner = createFakeRunner({
    createProvider: () => ({ provider }),
    checkProvider: () => ({ ok: true, models: 1, message: null }),
    listModels: () => ({ models: [makeModel({ providerId: provider.id })], problems: [], defaultModel: chosen, nextCursor: null }),
    getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, defaultModel: chosen } }),
  })
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=anthropic' })
  const dialog = await screen.findByRole('dialog', { name: 'Add provider' })
  await user.type(within(dialog).getByLabelText('API key'), KEY)
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(screen.queryByRole('alertdialog')).toBeNull()
  expect(runner.callsOf('updateSettings')).toEqual([])
})

it('shows a member providers and prices, without anything to change', async () => {
  const provider = makeProvider()
  const runner = createFakeRunner({
    listProviders: () => ({ providers: [provider], nextCursor: null }),
    listModels: () => ({
      models: [makeModel({ providerId: provider.id, label: 'Sonnet 5' })],
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
  })
  const person = { id: makeId(), name: 'Bo', role: 'member' as const, createdAt: 0 }
  const { user } = renderScreen(ModelsScreen, { runner, route: '/models', path: '/models?add=anthropic', person })
  await user.click(await screen.findByRole('button', { name: `Actions for ${provider.name}` }))
  expect((await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent)).toEqual(['Check now'])
  await user.keyboard('{Escape}')
  await user.click(await screen.findByRole('button', { name: 'Actions for Sonnet 5' }))
  for (const item of await screen.findAllByRole('menuitem')) expect(item).toHaveAttribute('aria-disabled', 'true')
  expect(screen.queryByRole('button', { name: 'Add provider' })).not.toBeInTheDocument()
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})
