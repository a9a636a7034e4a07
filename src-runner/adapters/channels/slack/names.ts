import { z } from 'zod'
import type { SlackApi } from './web-api.ts'

export type Names = {
  /** null: Slack does not tell. */
  person(userId: string): Promise<{ name: string; handle: string } | null>
  channel(channelId: string): Promise<string | null>
}

const User = z.object({
  user: z.object({
    name: z.string().default(''),
    real_name: z.string().nullish(),
    profile: z.object({ display_name: z.string().nullish(), real_name: z.string().nullish() }).default({}),
  }),
})
const Channel = z.object({ channel: z.object({ name: z.string() }) })

const MAX_KEPT = 500
const DEADLINE_MS = 5000

/** Asks Slack for names and keeps them until the connection ends. A message does not wait long for a name, and never fails for it. */
export function createNames(api: SlackApi, closing: AbortSignal): Names {
  const people = new Map<string, { name: string; handle: string }>()
  const channels = new Map<string, string>()

  async function ask(method: string, args: Record<string, unknown>): Promise<unknown> {
    const result = await api.call(method, args, { signal: closing, deadlineMs: DEADLINE_MS })
    return result.ok ? result.value : null
  }

  return {
    async person(userId) {
      const known = people.get(userId)
      if (known !== undefined) return known
      const read = User.safeParse(await ask('users.info', { user: userId }))
      if (!read.success) return null
      const { name, real_name: real, profile } = read.data.user
      const shown = [profile.display_name, profile.real_name, real, name].find((one) => (one ?? '').trim() !== '') ?? name
      return keep(people, userId, { name: shown, handle: `@${name}` })
    },
    async channel(channelId) {
      const known = channels.get(channelId)
      if (known !== undefined) return known
      const read = Channel.safeParse(await ask('conversations.info', { channel: channelId }))
      return read.success ? keep(channels, channelId, read.data.channel.name) : null
    },
  }
}

function keep<T>(kept: Map<string, T>, key: string, value: T): T {
  kept.set(key, value)
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
  return value
}
