import { expect, test } from 'vitest'
import { slackManifest } from './slack-manifest.ts'

test('a manifest sets up everything that the driver needs', () => {
  const manifest = slackManifest('Ada')
  expect(manifest).toMatchObject({
    display_information: { name: 'Ada' },
    features: { app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false }, bot_user: { display_name: 'Ada' } },
    settings: { socket_mode_enabled: true, interactivity: { is_enabled: true } },
  })
  expect(manifest.oauth_config.scopes.bot).toContain('chat:write')
  expect(manifest.settings.event_subscriptions.bot_events).toContain('message.im')
})

test.each([
  ['Ada', '/ada'],
  ['Büro-Hilfe №1', '/buro-hilfe-no1'],
  ['  Data & Reports  ', '/data-reports'],
  ['日本語', '/deckhand'],
  ['x'.repeat(60), `/${'x'.repeat(31)}`],
  ['', '/deckhand'],
])('the command of %j is %s', (name, command) => {
  const { features, display_information: shown } = slackManifest(name)
  expect(features.slash_commands[0]!.command).toBe(command)
  expect([...shown.name].length).toBeLessThanOrEqual(35)
})
