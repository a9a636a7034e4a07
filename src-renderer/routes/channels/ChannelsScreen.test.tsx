import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import type { Person } from '../../../src-main/contract/auth-api.ts'
import type { Channel } from '../../../src-runner/contract/channels.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeChannel, makeId, makePerson, quote } from '../../testing/things.ts'
import { ChannelsScreen } from './ChannelsScreen.tsx'

const TOKEN = '123456789:AAEabcdefghijklmnopqrstuvwxyz0123456'
const member: Person = { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 }
const agent = makeAgent({ name: 'File guide', isDefault: true })

/** A runner whose channels change as the real one's do, and say so. */
function open(channels: Channel[], path = '/channels', person?: Person) {
  const find = (id: string) => channels.find((one) => one.id === id)
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listChannels: () => ({ channels: structuredClone(channels), nextCursor: null }),
    createChannel: ({ body }) => {
      if (body.token !== TOKEN) return new Refusal('channel_refused', undefined, undefined, quote('Telegram says: Unauthorized.'))
      const channel = makeChannel({ agentId: body.agentId, status: 'open' })
      channels.push(channel)
      changed(channel)
      return { channel }
    },
    updateChannel: ({ params, body }) => {
      const channel = find(params.channelId)!
      if (body.enabled !== undefined) Object.assign(channel, { enabled: body.enabled, status: body.enabled ? 'connecting' : 'off' })
      changed(channel)
      return { channel }
    },
    updateChannelPerson: ({ params, body }) => {
      const channel = find(params.channelId)!
      const person = channel.people.find((one) => one.id === params.personId)!
      person.role = body.role
      changed(channel)
      return { person }
    },
    deleteChannel: ({ params }) => {
      channels.splice(
        channels.findIndex((one) => one.id === params.channelId),
        1,
      )
      changed({ id: params.channelId, agentId: agent.id })
      return { ok: true }
    },
    testChannel: () => ({ ok: false, message: quote('The person has blocked the bot.') }),
  })
  const changed = ({ id, agentId }: Pick<Channel, 'id' | 'agentId'>) =>
    queueMicrotask(() => runner.happen({ type: 'channel.changed', payload: { channelId: id, agentId } }))
  return { ...renderScreen(ChannelsScreen, { route: '/channels', path, runner, person }), runner, changed }
}

it('explains channels when there are none, and leads from the token to the first message', async () => {
  const channels: Channel[] = []
  const { user, runner, changed } = open(channels)
  await user.click(await screen.findByRole('button', { name: 'Connect channel' }))
  await user.click(await screen.findByRole('button', { name: /^Telegram/ }))
  const token = await screen.findByLabelText('Token')
  expect(token).toHaveAttribute('type', 'password')
  await user.type(token, 'hello')
  await user.click(screen.getByRole('button', { name: 'Connect' }))
  expect(token).toBeInvalid()
  expect(runner.callsOf('createChannel')).toEqual([])

  await user.clear(token)
  await user.type(token, `${TOKEN}x`)
  await user.click(screen.getByRole('button', { name: 'Connect' }))
  expect(await screen.findByText('Telegram says: Unauthorized.')).toBeVisible()

  await user.clear(token)
  await user.type(token, TOKEN)
  await user.click(screen.getByRole('button', { name: 'Connect' }))
  const dialog = await screen.findByRole('dialog', { name: '@guide_bot is connected' })
  expect(within(dialog).getByText('Waiting for your first message…')).toBeVisible()
  const opened = vi.spyOn(window, 'open').mockReturnValue(null)
  await user.click(within(dialog).getByRole('button', { name: 'Open in Telegram' }))
  expect(opened.mock.calls[0]![0]).toBe(`https://t.me/guide_bot?start=${channels[0]!.pairingCode}`)
  opened.mockRestore()
  expect(runner.callsOf('createChannel').at(-1)!.body).toEqual({
    agentId: agent.id,
    kind: 'telegram',
    token: TOKEN,
    appToken: null,
    baseUrl: null,
  })

  channels[0]!.people.push(makePerson({ channelId: channels[0]!.id }))
  changed(channels[0]!)
  await user.click(await within(dialog).findByRole('button', { name: 'This is me' }))
  const question = await screen.findByRole('alertdialog', { name: 'Is Ada you?' })
  expect(question).toHaveTextContent('ID 4711')
  await user.click(within(question).getByRole('button', { name: 'This is me' }))
  await waitFor(() => expect(runner.callsOf('updateChannelPerson').map((call) => call.body)).toEqual([{ role: 'owner' }]))
  expect(await within(dialog).findByText('You')).toBeVisible()
})

it('shows who waits, with their unchangeable number and hidden characters written out', async () => {
  const stranger = makePerson({ displayName: 'Ada\u202Enimda', handle: null, externalId: '99' })
  const { user, runner } = open([makeChannel({ people: [makePerson({ role: 'owner', displayName: 'Mira', externalId: '1' }), stranger] })])
  const card = await screen.findByRole('region', { name: '@guide_bot' })
  expect(card).toHaveTextContent('Ada⟨U+202E⟩nimda')
  expect(card).toHaveTextContent('ID 99')
  await user.click(within(card).getByRole('button', { name: 'Allow' }))
  const question = await screen.findByRole('alertdialog', { name: /^Allow Ada.* to message this agent\?$/ })
  expect(question).toHaveTextContent('its autonomy and your rules allow')
  expect(runner.callsOf('updateChannelPerson')).toEqual([])
  await user.click(within(question).getByRole('button', { name: 'Allow' }))
  await waitFor(() => expect(runner.callsOf('updateChannelPerson').at(-1)!.body).toEqual({ role: 'allowed' }))
  expect(await within(card).findByText('Guest')).toBeVisible()
  await user.click(await within(card).findByRole('button', { name: 'Block' }))
  expect(await within(card).findByText('Blocked')).toBeVisible()
})

it('shows the pairing code until there is an owner', async () => {
  const channel = makeChannel({ pairingCode: 'ABCD2345', people: [makePerson()] })
  const { user } = open([channel])
  const card = await screen.findByRole('region', { name: '@guide_bot' })
  expect(card).toHaveTextContent('send the pairing code ABCD2345 to @guide_bot')
  await user.click(within(card).getByRole('button', { name: 'This is me' }))
  const question = await screen.findByRole('alertdialog')
  await user.click(within(question).getByRole('button', { name: 'This is me' }))
  await waitFor(() => expect(card).not.toHaveTextContent('ABCD2345'))
})

it('shows a member the state and the people of a channel, without the code and without anything to decide', async () => {
  const people = [makePerson({ displayName: 'Ada' }), makePerson({ displayName: 'Ben', role: 'allowed' })]
  const channel = makeChannel({ pairingCode: null, status: 'logged_out', problem: quote('Telegram refuses the token.'), people })
  const { runner, user } = open([channel], `/channels?connect=${agent.id}`, member)
  const card = await screen.findByRole('region', { name: '@guide_bot' })
  expect(card).toHaveTextContent('Only owners can allow people.')
  expect(card).toHaveTextContent('This channel has no owner yet.')
  expect(card).not.toHaveTextContent('pairing code')
  expect(within(card).getByText('Guest')).toBeVisible()
  expect(within(card).getByRole('switch')).toBeDisabled()
  expect(within(card).queryAllByRole('button', { name: /token|This is me|Allow|Block/ })).toEqual([])
  expect(screen.queryByRole('button', { name: 'Connect channel' })).not.toBeInTheDocument()
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(runner.callsOf('getPairing')).toEqual([])
  await user.click(within(card).getByRole('button', { name: 'Actions for @guide_bot' }))
  expect((await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent)).toEqual(['Copy address'])
})

it('tells a member who connects channels when there are none', async () => {
  open([], '/channels', member)
  expect(await screen.findByText(/Only owners can connect one/)).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Connect channel' })).not.toBeInTheDocument()
})

it('says what is wrong with an account, switches it off, and asks before it disconnects it', async () => {
  const channel = makeChannel({ status: 'logged_out', problem: quote('Telegram refuses the token. Get a new one from @BotFather.') })
  const { user, runner } = open([channel])
  const card = await screen.findByRole('region', { name: '@guide_bot' })
  expect(within(card).getByRole('alert')).toHaveTextContent('Get a new one from @BotFather.')
  await user.click(within(card).getByRole('switch', { name: '@guide_bot is on' }))
  expect(await within(card).findByText('Off')).toBeVisible()
  await user.click(within(card).getByRole('button', { name: 'Actions for @guide_bot' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Disconnect' }))
  expect(runner.callsOf('deleteChannel')).toEqual([])
  await user.click(
    within(await screen.findByRole('alertdialog', { name: 'Disconnect @guide_bot?' })).getByRole('button', { name: 'Disconnect' }),
  )
  expect(await screen.findByText('Message agents from anywhere')).toBeVisible()
})

it('offers the fix beside a logged-out account', async () => {
  const channel = makeChannel({ status: 'logged_out', problem: quote('Telegram refuses the token.') })
  const { user, runner } = open([channel])
  await user.click(await screen.findByRole('button', { name: 'Replace token' }))
  const dialog = await screen.findByRole('dialog', { name: /@guide_bot/ })
  expect(within(dialog).getByLabelText('Token')).toHaveFocus()
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  // What comes back by itself needs nobody.
  runner.answer({ listChannels: () => ({ channels: [{ ...channel, status: 'failing' }], nextCursor: null }) })
  runner.happen({ type: 'channel.changed', payload: { channelId: channel.id, agentId: agent.id } })
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Replace token' })).toBeNull())
})

it('shows undelivered messages and retries them', async () => {
  const { user, runner } = open([makeChannel()])
  const message = {
    id: makeId(),
    kind: 'reply' as const,
    state: 'undeliverable' as const,
    agentId: agent.id,
    agentName: agent.name,
    channelId: null,
    channelKind: 'telegram' as const,
    jobId: makeId(),
    text: '✅ **Ada** finished.\n\n- The answer',
    tries: 3,
    problem: quote('The chat is gone.'),
    createdAt: 1_700_000_000_000,
    nextTryAt: null,
    sentAt: null,
  }
  runner.answer({
    listOutbox: ({ query }) => ({ messages: query.state === 'undeliverable' ? [message] : [], nextCursor: null }),
    retryOutbound: () => ({ message: { ...message, state: 'pending', nextTryAt: 1 } }),
  })
  runner.happen({ type: 'outbound.failed', payload: { messageId: message.id, agentId: agent.id, state: 'undeliverable' } })
  expect(await screen.findByText('The chat is gone.')).toBeVisible()
  expect(screen.getByText('✅ Ada finished. The answer')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  await waitFor(() => expect(runner.callsOf('retryOutbound')[0]!.params).toEqual({ messageId: message.id }))
})
