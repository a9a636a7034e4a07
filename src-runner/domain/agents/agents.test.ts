import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { Agent, DEFAULT_LIMITS, type CreateAgent, type UpdateAgent } from '../../contract/agents.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { deleteAgent } from '../../execution/delete-agent.ts'
import { findDefaultEntity } from '../entities/entities.ts'
import {
  createAgent,
  findAgent,
  findAgentBySlug,
  findDefaultAgent,
  getAgent,
  listAgents,
  listAgentsUsingProvider,
  updateAgent,
} from './agents.ts'
import { freeSlug, slugFor } from './slugs.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const create = (input: Partial<CreateAgent> = {}) => write((tx) => createAgent(tx, rig, { name: 'Ada', ...input }))
const update = (id: string, input: UpdateAgent) => write((tx) => updateAgent(tx, rig, id, input))
const remove = (id: string) => write((tx) => deleteAgent(tx, { clock: rig.clock, jobs: rig.store }, id))
const entityId = () => findDefaultEntity(rig.db).id

test.each([
  ['Ada Lovelace', 'ada-lovelace'],
  ['  Zoë — the 2nd!  ', 'zoe-the-2nd'],
  ['日本語', 'agent'],
  ['***', 'agent'],
  ['x'.repeat(120), 'x'.repeat(60)],
  [`${'x'.repeat(59)} yz`, 'x'.repeat(59)],
])('makes the slug of %s into %s', (name, slug) => {
  expect(slugFor(name)).toBe(slug)
})

test('makes a free path segment from any name', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 120 }),
      fc.array(fc.constantFrom('agent', 'agent-2', 'a'), { maxLength: 3 }),
      (name, taken) => {
        const slug = freeSlug(slugFor(name), new Set(taken))
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
        expect(taken).not.toContain(slug)
      },
    ),
  )
})

describe('creating an agent', () => {
  test('uses the defaults if only a name is given', () => {
    const agent = create()
    expect(Agent.parse(agent)).toEqual(agent)
    expect(agent).toMatchObject({
      slug: 'ada',
      entityId: entityId(),
      instructions: '',
      model: null,
      fallbacks: [],
      autonomy: 'ask_when_it_matters',
      folders: [],
      limits: DEFAULT_LIMITS,
      isDefault: true,
      createdAt: rig.clock.now(),
    })
  })

  test('stores all fields as given', () => {
    const given: CreateAgent = {
      name: 'Grace',
      avatar: '⚓',
      instructions: 'Be brief.',
      model: { providerId: 'demo', model: 'demo' },
      fallbacks: [{ providerId: 'p', model: 'm' }],
      autonomy: 'on_its_own',
      folders: ['/home/x', '/tmp/ü'],
      limits: { maxCostUsd: 0.37 },
    }
    const agent = create(given)
    expect(agent).toMatchObject({ ...given, limits: { ...DEFAULT_LIMITS, maxCostUsd: 0.37 } })
    expect(getAgent(rig.db, agent.id)).toEqual(agent)
  })

  test('gives a repeated name another slug, and frees the slug of a deleted agent', () => {
    const first = create()
    expect([first, create(), create()].map((agent) => agent.slug)).toEqual(['ada', 'ada-2', 'ada-3'])
    remove(first.id)
    expect(create().slug).toBe('ada')
  })

  test('rejects an unknown workspace', () => {
    expect(() => create({ entityId: rig.ids.next() })).toThrow(expect.objectContaining({ code: 'entity_not_found' }))
  })
})

describe('updating an agent', () => {
  test('changes only the given fields, and removes the model with null', () => {
    const before = create({ model: { providerId: 'demo', model: 'demo' }, limits: { maxTurns: 7 }, instructions: 'Keep.' })
    rig.clock.advance(10)
    const after = update(before.id, { name: 'Ada B', limits: { maxToolCalls: 3 }, avatar: undefined })
    expect(after).toEqual({ ...before, name: 'Ada B', limits: { ...before.limits, maxToolCalls: 3 }, updatedAt: rig.clock.now() })
    expect(update(before.id, { model: null })).toMatchObject({ model: null, instructions: 'Keep.', slug: 'ada' })
  })

  test('keeps exactly one default agent', () => {
    const [first, second] = [create(), create()]
    expect([first.isDefault, second.isDefault]).toEqual([true, false])
    update(second.id, { isDefault: true })
    expect(findDefaultAgent(rig.db, entityId())!.id).toBe(second.id)
    expect(getAgent(rig.db, first.id).isDefault).toBe(false)
  })

  test('rejects changes to an unknown agent', () => {
    const { id } = create()
    remove(id)
    expect(() => update(id, { name: 'x' })).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
    expect(() => remove(id)).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
  })
})

test('removes a deleted agent from every list, and makes the oldest one the default', () => {
  const [first, second] = [create(), create({ name: 'Bob' })]
  create({ name: 'Cy' })
  remove(first.id)
  expect(findAgent(rig.db, first.id)).toBeNull()
  expect(findAgentBySlug(rig.db, entityId(), 'ada')).toBeNull()
  expect(listAgents(rig.db, { limit: 10 }).agents.map((agent) => agent.name)).toEqual(['Bob', 'Cy'])
  expect(findDefaultAgent(rig.db, entityId())!.id).toBe(second.id)
})

test('lists agents by name without regard to case, each once over all pages', () => {
  for (const name of ['bea', 'Ada', 'ada', 'Cy', 'ADA']) create({ name })
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = listAgents(rig.db, { limit: 2, cursor })
    names.push(...page.agents.map((agent) => agent.name))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(names.map((name) => name.toLowerCase())).toEqual(['ada', 'ada', 'ada', 'bea', 'cy'])
  expect(new Set(names).size).toBe(5)
  expect(listAgents(rig.db, { limit: 9, entityId: rig.ids.next() }).agents).toEqual([])
  expect(() => listAgents(rig.db, { limit: 2, cursor: 'nonsense' })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})

test('finds the agents that use a provider, also as a fallback', () => {
  const ref = { providerId: 'p', model: 'm' }
  create({ name: 'own', model: ref })
  create({ name: 'fallback', fallbacks: [{ providerId: 'demo', model: 'demo' }, ref] })
  create({ name: 'neither' })
  expect(listAgentsUsingProvider(rig.db, 'p').map((agent) => agent.name)).toEqual(['fallback', 'own'])
})
