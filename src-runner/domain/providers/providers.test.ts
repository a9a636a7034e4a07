import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { DEFAULT_SETTINGS } from '../../contract/settings.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createAgent, updateAgent } from '../agents/agents.ts'
import { findPrice, setPrice } from '../prices/prices.ts'
import { changeSettings, readSettings } from '../settings/settings.ts'
import { deleteProvider, findProvider, getProvider, insertProvider, listProviders, updateProvider } from './providers.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const add = (id = 'mine') =>
  write((tx) => insertProvider(tx, rig, { id, kind: 'openai', name: 'Mine', baseUrl: null, hasKey: true, origin: 'user' }))
const model = { providerId: 'mine', model: 'gpt' }

test('has the demo from the start, which cannot be changed', () => {
  expect(listProviders(rig.db)).toEqual([
    { id: 'demo', kind: 'demo', name: 'Demo', baseUrl: null, hasKey: false, origin: 'built_in', createdAt: rig.clock.now() },
  ])
  expect(() => write((tx) => deleteProvider(tx, 'demo'))).toThrow(expect.objectContaining({ code: 'provider_read_only' }))
  expect(() => write((tx) => updateProvider(tx, 'demo', { name: 'x' }))).toThrow(expect.objectContaining({ code: 'provider_read_only' }))
})

test('adds, changes and deletes a provider', () => {
  const added = add()
  expect(getProvider(rig.db, 'mine')).toEqual(added)
  expect(listProviders(rig.db).map((one) => one.id)).toEqual(['demo', 'mine'])
  expect(write((tx) => updateProvider(tx, 'mine', { baseUrl: 'http://127.0.0.1:1/v1', hasKey: false }))).toEqual({
    ...added,
    baseUrl: 'http://127.0.0.1:1/v1',
    hasKey: false,
  })
  expect(write((tx) => updateProvider(tx, 'mine', { name: 'Ours', baseUrl: null }))).toMatchObject({
    name: 'Ours',
    baseUrl: null,
    hasKey: false,
  })
  write((tx) => deleteProvider(tx, 'mine'))
  expect(findProvider(rig.db, 'mine')).toBeNull()
  expect(() => write((tx) => deleteProvider(tx, 'mine'))).toThrow(expect.objectContaining({ code: 'provider_not_found' }))
})

test('rejects deleting a provider that is used by an agent, as a fallback or as the default', () => {
  add()
  const agent = write((tx) => createAgent(tx, rig, { name: 'Ada', model }))
  const attempt = () => write((tx) => deleteProvider(tx, 'mine'))
  expect(attempt).toThrow(expect.objectContaining({ code: 'provider_in_use', message: expect.stringContaining('Ada') }))
  write((tx) => updateAgent(tx, rig, agent.id, { model: null, fallbacks: [model] }))
  expect(attempt).toThrow(expect.objectContaining({ code: 'provider_in_use' }))
  write((tx) => updateAgent(tx, rig, agent.id, { fallbacks: [] }))
  write((tx) => changeSettings(tx, rig, { defaultModel: model }))
  expect(attempt).toThrow(expect.objectContaining({ code: 'provider_in_use' }))
  write((tx) => changeSettings(tx, rig, { defaultModel: null }))
  attempt()
})

test('stores a price to the micro-dollar, and deletes it with its provider', () => {
  add()
  write((tx) => setPrice(tx, rig, model, { inputUsdPerMillion: 0.15, outputUsdPerMillion: 2.5 }))
  expect(findPrice(rig.db, model)).toEqual({ inputUsdPerMillion: 0.15, outputUsdPerMillion: 2.5 })
  write((tx) => setPrice(tx, rig, model, { inputUsdPerMillion: 1, outputUsdPerMillion: 2, cachedInputUsdPerMillion: 0 }))
  expect(findPrice(rig.db, model)).toEqual({ inputUsdPerMillion: 1, outputUsdPerMillion: 2, cachedInputUsdPerMillion: 0 })
  write((tx) => setPrice(tx, rig, model, null))
  expect(findPrice(rig.db, model)).toBeNull()
  write((tx) => setPrice(tx, rig, model, { inputUsdPerMillion: 1, outputUsdPerMillion: 2 }))
  write((tx) => deleteProvider(tx, 'mine'))
  expect(findPrice(rig.db, model)).toBeNull()
  expect(() => write((tx) => setPrice(tx, rig, model, null))).toThrow(expect.objectContaining({ code: 'provider_not_found' }))
})

test('have defaults, and emit events only for changed settings', () => {
  const told: string[][] = []
  rig.db.onEvents((event) => void (event.type === 'settings.changed' && told.push(event.payload.keys)))
  expect(readSettings(rig.db)).toEqual(DEFAULT_SETTINGS)
  expect(write((tx) => changeSettings(tx, rig, { concurrency: 8, firstStart: 'model' }))).toEqual({ ...DEFAULT_SETTINGS, concurrency: 8 })
  write((tx) => changeSettings(tx, rig, { concurrency: 8, defaultModel: undefined }))
  expect(told).toEqual([['concurrency']])
})

test('uses the default for a setting that this version cannot read', () => {
  rig.db.prepare("INSERT INTO settings VALUES ('concurrency', '\"many\"', 0), ('future', '1', 0)").run()
  expect(readSettings(rig.db)).toEqual(DEFAULT_SETTINGS)
})
