import { quote } from '../../testing/things.ts'
import { screen, within } from '@solidjs/testing-library'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeLanguage } from '../../lib/language.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeChannel, makePerson } from '../../testing/things.ts'
import { ChannelCard } from './ChannelCard.tsx'

beforeEach(() => changeLanguage('de'))
afterEach(() => changeLanguage('system'))

it('says in German what is wrong with a channel, and why a test did not arrive', async () => {
  const channel = makeChannel({
    name: '@ada_bot',
    status: 'logged_out',
    problem: { code: 'chat_token_refused', params: { server: 'Telegram' } },
    people: [makePerson({ role: 'owner' })],
  })
  const runner = createFakeRunner({
    testChannel: () => ({ ok: false, message: { code: 'chat_off', params: {} } }),
  })
  const { user } = renderScreen(() => <ChannelCard channel={channel} onNewToken={() => {}} />, { runner })
  const card = await screen.findByRole('region', { name: '@ada_bot' })
  expect(within(card).getByRole('alert')).toHaveTextContent(
    'Telegram nimmt das Token nicht an. Erstelle mit @BotFather ein neues und trage es bei diesem Kanal ein.',
  )
  within(card)
    .getByRole('button', { name: /Aktionen/ })
    .focus()
  await user.keyboard('{Enter}')
  await user.click(await screen.findByRole('menuitem', { name: 'Testnachricht senden' }))
  expect(await screen.findByText('Der Kanal ist aus. Schalte ihn zuerst ein.')).toBeInTheDocument()
})

it('shows a message of the service unchanged', async () => {
  const channel = makeChannel({ name: '@ada_bot', status: 'failing', problem: quote('Gone fishing until Monday.') })
  renderScreen(() => <ChannelCard channel={channel} onNewToken={() => {}} />)
  expect(await screen.findByRole('alert')).toHaveTextContent('Gone fishing until Monday.')
})
