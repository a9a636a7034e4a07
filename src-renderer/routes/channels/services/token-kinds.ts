/** Tokens that people confuse, by their form. The forms are those that the services document. */
const FORMS = {
  /** The number of the bot, a colon, and the secret. */
  telegram: /^\d{5,20}:[\w-]{20,}$/,
  /** The id of the bot, the time and a signature, each in base64url. */
  discord: /^[\w-]{18,40}\.[\w-]{5,8}\.[\w-]{25,60}$/,
  slack_bot: /^xoxb-[\w-]{10,}$/,
  slack_app: /^xapp-[\w-]{10,}$/,
  slack_user: /^xoxp-[\w-]{10,}$/,
} as const
export type TokenKind = keyof typeof FORMS

/** Returns null for a text that is no token, or not a whole one. */
export function kindOfToken(text: string): TokenKind | null {
  return (Object.keys(FORMS) as TokenKind[]).find((kind) => FORMS[kind].test(text)) ?? null
}
