import { SLACK_NEW_APP_URL, slackManifest } from '../../../../resources/slack-manifest.ts'
import { TOKEN_SERVICES } from '../../../../src-runner/contract/channels.ts'
import type { TokenKind } from './token-kinds.ts'

/** A service that is connected by pasting tokens. Its texts are at `channels.services.<kind>`. */
export type TokenService = {
  /** Where its tokens are made. */
  site: string | ((agentName: string) => string)
  /** A text to paste there. */
  manifest?: (agentName: string) => string
  /** Keys of its steps, in order. */
  steps: readonly ('one' | 'two' | 'three')[]
  tokens: readonly { field: 'token' | 'appToken'; kind: TokenKind }[]
}

export type TokenServiceKind = (typeof TOKEN_SERVICES)[number]

export const SERVICES: Record<TokenServiceKind, TokenService> = {
  telegram: { site: 'https://t.me/BotFather', steps: ['one', 'two', 'three'], tokens: [{ field: 'token', kind: 'telegram' }] },
  discord: {
    site: 'https://discord.com/developers/applications?new_application=true',
    steps: ['one', 'two', 'three'],
    tokens: [{ field: 'token', kind: 'discord' }],
  },
  slack: {
    // Slack fills its form from the address. The text to copy is for people who open the page by themselves.
    site: (agentName) => `${SLACK_NEW_APP_URL}&manifest_json=${encodeURIComponent(JSON.stringify(slackManifest(agentName)))}`,
    manifest: (agentName) => JSON.stringify(slackManifest(agentName), null, 2),
    steps: ['one', 'two', 'three'],
    tokens: [
      { field: 'token', kind: 'slack_bot' },
      { field: 'appToken', kind: 'slack_app' },
    ],
  },
}
