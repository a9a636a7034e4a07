import { createMessage, quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import type { AttentionItem } from '../../contract/notifications.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import type { DeliveryOutcome } from '../../contract/triggers.ts'
import { plansOf } from '../../testing/query-plans.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import { deleteChannel, insertChannel, setChannelStatus } from '../channels/channels.ts'
import { addRequest, setPersonRole } from '../channels/people.ts'
import { insertCredential, reconnectCredential, requireSignIn } from '../credentials/credentials.ts'
import { beginTry, recordTry } from '../outbox/send-message.ts'
import { writeOutbound } from '../outbox/write-message.ts'
import { changeSettings } from '../settings/settings.ts'
import { listAttention } from './attention.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('the attention list', () => {
  let rig: ScheduleRig
  beforeEach(() => {
    rig = openScheduleRig(Date.UTC(2026, 10, 20, 9, 0))
  })
  afterEach(() => rig.close())

  const list = (publicAddress: PublicAddress | null = null): AttentionItem[] =>
    listAttention(rig.domain.db, { now: rig.clock.now(), publicAddress })
  const kinds = () => list().map(({ kind }) => kind)
  const write = <T>(work: (tx: Tx) => T): T => rig.write(work)

  function addChannel(): string {
    const id = rig.domain.ids.next()
    const account = { accountId: id, name: '@ada_bot', link: null }
    write((tx) => insertChannel(tx, rig, { id, agentId: rig.agentId, kind: 'telegram', account, baseUrl: null }))
    return id
  }

  function addTrigger(): { id: string; refuse(outcome: DeliveryOutcome, times?: number): void } {
    const { ids, db } = rig.domain
    const id = ids.next()
    const { seq } = db
      .prepare<{ seq: number }>(
        `INSERT INTO webhook_triggers (id, entity_id, agent_id, name, slug, secret_digest, task_template, notify_on_success, notify_via, dedupe,
           status, created_at) VALUES (?, (SELECT id FROM entities), ?, 'Orders', ?, NULL, 'x', 0, 'auto', 0, 'active', 0) RETURNING seq`,
      )
      .get(id, rig.agentId, id)!
    return {
      id,
      refuse: (outcome, times = 1) =>
        void db
          .prepare(
            'INSERT INTO webhook_refusals (id, trigger_seq, after_job_seq, outcome, status, times, bytes, received_at) VALUES (?, ?, 0, ?, 400, ?, 0, ?)',
          )
          .run(ids.next(), seq, outcome, times, rig.clock.now()),
    }
  }

  it('is empty at first', () => {
    expect(list()).toEqual([])
  })

  it('lists a schedule whose budget is spent, until its next day begins', () => {
    const schedule = rig.create({ name: 'Digest', cron: '0 * * * *', timezone: 'UTC', dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    rig.clock.advance(HOUR)
    rig.look()
    expect(list()).toEqual([
      {
        kind: 'budget_exhausted',
        subjectId: schedule.id,
        title: createMessage('attention_budget_exhausted', { schedule: 'Digest' }),
        detail: createMessage('attention_budget_exhausted_detail', { agentName: 'Ada', limitUsd: 1 }),
        path: `/automations/schedules/${schedule.id}`,
        at: rig.clock.now(),
      },
    ])
    rig.clock.advance(14 * HOUR)
    expect(kinds()).toEqual([])
  })

  it('lists a schedule that missed runs, until one succeeds', () => {
    const schedule = rig.create({ name: 'Digest', cron: '0 * * * *', timezone: 'UTC', catchUpHours: 0 })
    rig.clock.advance(3 * HOUR + 10 * MINUTE)
    rig.look()
    const title = createMessage('attention_schedule_missed', { schedule: 'Digest', times: 3 })
    expect(list()).toMatchObject([{ kind: 'schedule_missed', subjectId: schedule.id, title, detail: createMessage('due_no_catch_up') }])
    rig.clock.advance(50 * MINUTE)
    expect(rig.look()).toBe(1)
    expect(kinds()).toEqual(['schedule_missed'])
    rig.end(rig.live(schedule)[0]!, { kind: 'failed', error: 'internal', message: quote('no') })
    expect(kinds()).toEqual(['schedule_missed'])
    rig.clock.advance(HOUR)
    rig.look()
    rig.end(rig.live(schedule)[0]!)
    expect(kinds()).toEqual([])
  })

  it('omits missed runs older than a day, and paused schedules', () => {
    const schedule = rig.create({ cron: '0 9 * * 1', timezone: 'UTC', catchUpHours: 0 })
    rig.clock.advance(3 * DAY + HOUR)
    rig.look()
    expect(kinds()).toEqual(['schedule_missed'])
    write((tx) => rig.schedules.pause(tx, schedule.id))
    expect(kinds()).toEqual([])
    write((tx) => rig.schedules.resume(tx, schedule.id))
    expect(kinds()).toEqual(['schedule_missed'])
    rig.clock.advance(DAY)
    expect(kinds()).toEqual([])
  })

  it('lists refused deliveries of the last day from senders that know the secret', () => {
    const orders = addTrigger()
    orders.refuse('wrong_secret', 1000)
    orders.refuse('bad_signature')
    orders.refuse('paused')
    expect(list()).toEqual([])
    orders.refuse('rate_limited', 12)
    rig.clock.advance(MINUTE)
    orders.refuse('unsupported_encoding')
    rig.clock.advance(MINUTE)
    orders.refuse('placeholder_missing')
    expect(list()).toEqual([
      {
        kind: 'delivery_refused',
        subjectId: orders.id,
        title: createMessage('attention_delivery_refused', { trigger: 'Orders', times: 14 }),
        detail: createMessage('refused_placeholder_missing'),
        path: `/automations/webhooks/${orders.id}`,
        at: rig.clock.now(),
      },
    ])
    rig.clock.advance(DAY)
    expect(list()).toEqual([])
  })

  it('lists an undelivered message while a person can still send it', () => {
    const channelId = addChannel()
    const { db, ids } = rig.domain
    const to = { channelId, personId: ids.next(), chatId: '1' }
    write((tx) => writeOutbound(tx, rig.domain, { key: 'k', kind: 'notification', agentId: rig.agentId, jobId: null, text: 'Hi', to }))
    const { id } = db.prepare<{ id: string }>('SELECT id FROM outbox').get()!
    write((tx) => {
      beginTry(tx, rig.domain, id)
      return recordTry(tx, rig, id, {
        state: 'failed',
        permanent: true,
        partsSent: 0,
        retryAfterMs: null,
        problem: quote('They blocked you.'),
      })
    })
    expect(list()).toMatchObject([{ kind: 'message_undeliverable', subjectId: id, detail: quote('They blocked you.'), path: '/channels' }])
    rig.clock.advance(7 * DAY)
    expect(list()).toEqual([])
    rig.clock.advance(-7 * DAY)
    transact(db, (tx) => deleteChannel(tx, channelId))
    expect(list()).toEqual([])
  })

  it('lists an account that a person must sign in with again, until they have', () => {
    const id = rig.domain.ids.next()
    const { entityId } = rig.domain.db.prepare<{ entityId: string }>('SELECT id AS entityId FROM entities').get()!
    const account = { id, entityId, connector: 'shop', kind: 'api_key', name: 'Shop', accountName: null } as const
    write((tx) => insertCredential(tx, rig, { ...account, hosts: ['shop.example'], scopes: [], agents: [] }))
    expect(list()).toEqual([])
    write((tx) => requireSignIn(tx, id, quote('It expired.')))
    const title = createMessage('credential_refused', { name: 'Shop' })
    expect(list()).toMatchObject([
      { kind: 'credential_refused', subjectId: id, title, detail: quote('It expired.'), path: `/connections/${id}` },
    ])
    write((tx) => reconnectCredential(tx, id, {}))
    expect(list()).toEqual([])
  })

  it('lists a logged-out channel at once, and a failing one after five minutes', () => {
    const [out, failing] = [addChannel(), addChannel()]
    write((tx) => setChannelStatus(tx, out, 'logged_out', quote('The token is refused.')))
    write((tx) => setChannelStatus(tx, failing, 'failing', quote('No network.')))
    expect(list()).toMatchObject([
      { kind: 'channel_logged_out', subjectId: out, title: createMessage('channel_logged_out', { agentName: 'Ada', service: 'Telegram' }) },
    ])
    rig.clock.advance(3 * MINUTE)
    write((tx) => setChannelStatus(tx, failing, 'failing', quote('Still no network.')))
    rig.clock.advance(2 * MINUTE - 1)
    expect(kinds()).toEqual(['channel_logged_out'])
    rig.clock.advance(1)
    expect(kinds().sort()).toEqual(['channel_failing', 'channel_logged_out'])
    write((tx) => setChannelStatus(tx, failing, 'open', null))
    write((tx) => setChannelStatus(tx, out, 'connecting', null))
    expect(list()).toEqual([])
  })

  it('lists an access request until it is answered', () => {
    const channelId = addChannel()
    const sender = { externalId: '7', chatId: '7', displayName: 'Bo', handle: null, isRoom: false }
    const person = write((tx) => addRequest(tx, rig.domain, { id: channelId, agentId: rig.agentId }, sender))!
    expect(list()).toMatchObject([
      { kind: 'channel_request', subjectId: channelId, title: createMessage('channel_request', { person: 'Bo', agentName: 'Ada' }) },
    ])
    write((tx) => setPersonRole(tx, { id: channelId, agentId: rig.agentId }, person.id, 'refused'))
    expect(list()).toEqual([])
  })

  it('lists a public address that cannot be reached', () => {
    const address = (state: PublicAddress['check']['state']): PublicAddress => ({
      url: 'https://hooks.example',
      source: 'setting',
      localUrl: '',
      ingressPort: null,
      programs: [],
      tunnel: null,
      check: { state, checkedAt: rig.clock.now(), problem: state === 'unreachable' ? quote('Nothing came in.') : null },
    })
    expect(list(address('unreachable'))).toMatchObject([
      { kind: 'public_address_unreachable', subjectId: null, detail: quote('Nothing came in.'), at: rig.clock.now() },
    ])
    for (const state of ['reachable', 'unknown', 'checking'] as const) expect(list(address(state))).toEqual([])
  })

  it('lists a new address of the tunnel, as long as a webhook from before it gets no delivery', () => {
    const [before, url] = ['https://old.trycloudflare.com', 'https://new.trycloudflare.com']
    const tunnel: PublicAddress = {
      url,
      source: 'tunnel',
      localUrl: '',
      ingressPort: 3002,
      programs: [],
      tunnel: null,
      check: { state: 'reachable', checkedAt: rig.clock.now(), problem: null },
    }
    const remember = (of: string | null) =>
      write((tx) => changeSettings(tx, rig, { tunnelAddress: { url, since: rig.clock.now(), before: of } }))
    remember(before)
    expect(list(tunnel), 'there is no webhook').toEqual([])
    const { id } = addTrigger()
    expect(list(tunnel)).toEqual([
      {
        kind: 'public_address_changed',
        subjectId: null,
        title: createMessage('attention_address_changed'),
        detail: createMessage('attention_address_changed_detail', { before, url }),
        path: '/settings/webhooks',
        at: rig.clock.now(),
      },
    ])
    expect(list({ ...tunnel, url: 'https://hooks.example', source: 'setting' })).toEqual([])
    rig.clock.advance(7 * DAY)
    expect(list(tunnel), 'it is a week old').toEqual([])
    remember(null)
    expect(list(tunnel), 'it is the first address').toEqual([])
    remember(before)
    expect(list(tunnel)).toHaveLength(1)
    rig.domain.db
      .prepare(
        `UPDATE webhook_triggers SET trigger_count = 1, last_triggered_at = ?, fires = zeroblob(240), fires_boot = 'b', fires_gap = 0
         WHERE id = ?`,
      )
      .run(rig.clock.now(), id)
    expect(list(tunnel), 'a delivery came in').toEqual([])
  })

  it('lists the newest first', () => {
    const orders = addTrigger()
    orders.refuse('invalid_json')
    rig.clock.advance(MINUTE)
    const channelId = addChannel()
    write((tx) => setChannelStatus(tx, channelId, 'logged_out', null))
    expect(kinds()).toEqual(['channel_logged_out', 'delivery_refused'])
  })

  it('uses indexes that contain nothing else', () => {
    const plans = plansOf(rig.domain.db, () => void list())
    const lines = plans.flatMap(({ plan }) => plan)
    // There are few channels and MCP servers, and an index has found the rows that are grouped.
    expect(
      lines.filter((line) => line.startsWith('SCAN ') && !/USING (COVERING )?INDEX|^SCAN (missed|channel|mcp_servers)$/.test(line)),
    ).toEqual([])
    for (const index of [
      'schedules_to_resume',
      'occurrences_missed',
      'webhook_refusals_of_senders',
      'outbox_undeliverable',
      'channel_people_requested',
      'mcp_tools_changed',
    ]) {
      expect(
        lines.some((line) => line.includes(index)),
        index,
      ).toBe(true)
    }
  })
})
