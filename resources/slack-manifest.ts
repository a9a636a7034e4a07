/** What the Slack app of an agent needs. The manifest asks for it, and the driver checks that the bot token has it. */
export const SLACK_BOT_SCOPES = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:write',
  'mpim:history',
  'mpim:read',
  'users:read',
] as const

/** The only scope of the app-level token. A manifest cannot create that token. */
export const SLACK_APP_SCOPE = 'connections:write'

/** How Slack's tokens begin. */
export const SLACK_TOKENS = { bot: 'xoxb-', app: 'xapp-', user: 'xoxp-', configuration: 'xoxe' } as const

export const SLACK_NEW_APP_URL = 'https://api.slack.com/apps?new_app=1'

const MAX_NAME_CHARS = 35
const MAX_COMMAND_CHARS = 31

/**
 * The manifest of an agent's Slack app. The command has the name of the agent, because a workspace gives each command to one
 * app only, and Slack keeps names such as `/stop` for itself.
 */
export function slackManifest(agentName: string) {
  const name = [...agentName.trim()].slice(0, MAX_NAME_CHARS).join('') || 'Deckhand'
  return {
    display_information: { name, description: 'An agent of Deckhand' },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: name, always_online: false },
      slash_commands: [
        { command: slackCommand(agentName), description: `Talk to ${name}`, usage_hint: 'new, stop, agents or help', should_escape: false },
      ],
    },
    oauth_config: { scopes: { bot: [...SLACK_BOT_SCOPES] } },
    settings: {
      event_subscriptions: { bot_events: ['app_mention', 'app_uninstalled', 'message.im', 'tokens_revoked'] },
      interactivity: { is_enabled: true },
      org_deploy_enabled: false,
      socket_mode_enabled: true,
      token_rotation_enabled: false,
    },
  }
}

function slackCommand(agentName: string): string {
  const plain = agentName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_COMMAND_CHARS)
    .replace(/-+$/, '')
  return `/${plain === '' ? 'deckhand' : plain}`
}
