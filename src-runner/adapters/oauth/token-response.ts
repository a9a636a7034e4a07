type TextResponse = { status: number; type: string; text: string }
type Fields = Record<string, unknown>

/**
 * The response of a token address as RFC 6749 has it. GitHub and Slack report errors with status 200, Slack names its own kinds
 * of token and puts a person's token deeper, and some leave out the kind.
 */
export function normalTokenResponse({ status, type, text }: TextResponse, keepsIdToken: boolean): { status: number; text: string } {
  const fields = /^application\/([\w.+-]+\+)?json\b/i.test(type) ? parseObject(text) : null
  if (fields === null) return { status, text }
  const ofPerson = fields['authed_user']
  const token: Fields = typeof fields['access_token'] === 'string' ? fields : isObject(ofPerson) ? ofPerson : {}
  const isError = typeof fields['error'] === 'string' && typeof token['access_token'] !== 'string'
  if (isError) return { status: status === 200 ? 400 : status, text }
  if (typeof token['access_token'] !== 'string') return { status, text }
  const { id_token: idToken, ...rest } = { ...fields, ...token }
  const kind = token['token_type']
  const isBearer = kind === undefined || kind === 'bot' || kind === 'user'
  return {
    status,
    text: JSON.stringify({ ...rest, ...(isBearer ? { token_type: 'bearer' } : {}), ...(keepsIdToken ? { id_token: idToken } : {}) }),
  }
}

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
