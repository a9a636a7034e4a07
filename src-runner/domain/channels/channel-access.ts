/** What a service is reached with. `appToken`: the second token of services that have two. `baseUrl` null: its own address. */
export type ChannelAccess = { channelId: string; token: string; appToken: string | null; baseUrl: string | null }

type Tokens = Pick<ChannelAccess, 'token' | 'appToken'>

/** The entry of the vault for the tokens of a channel. It is one entry, so that two tokens change together. Tokens have no spaces. */
export function joinTokens({ token, appToken }: Tokens): string {
  return appToken === null ? token : `${token}\n${appToken}`
}

export function splitTokens(entry: string): Tokens {
  const [token, appToken] = entry.split('\n')
  return { token: token!, appToken: appToken ?? null }
}
