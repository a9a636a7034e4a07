import { z } from 'zod'
import { nameForPeople } from '../../../domain/channels/people.ts'
import type { Room } from '../channel.ts'
import type { DiscordApi } from './discord-api.ts'

type Guild = { name: string; roles: ReadonlyMap<string, string> }

/** Names of servers, their roles and channels, asked for once and kept. null: the service does not say. */
export type Places = {
  guild(guildId: string): Promise<Guild | null>
  channelName(channelId: string): Promise<string | null>
  roomOf(guildId: string): Promise<Room>
}

const MAX_KEPT = 500

const GuildAnswer = z.object({ name: z.string(), roles: z.array(z.object({ id: z.string(), name: z.string() })).default([]) })
const ChannelAnswer = z.object({ name: z.string().nullish() })

export function createPlaces(api: DiscordApi, signal: AbortSignal): Places {
  const answers = new Map<string, unknown>()

  async function ask<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
    if (!answers.has(path)) {
      const result = await api.call('GET', path, { signal })
      // A passing failure is asked again.
      if (!result.ok && result.kind !== 'refused' && result.kind !== 'forbidden') return null
      if (answers.size >= MAX_KEPT) answers.clear()
      answers.set(path, result.ok ? result.value : null)
    }
    return schema.safeParse(answers.get(path)).data ?? null
  }

  const channel = (channelId: string) => ask(`/channels/${channelId}`, ChannelAnswer)
  async function guild(guildId: string): Promise<Guild | null> {
    const found = await ask(`/guilds/${guildId}`, GuildAnswer)
    return found && { name: found.name, roles: new Map(found.roles.map(({ id, name }) => [id, name.replace(/^@/, '')])) }
  }
  return {
    guild,
    channelName: async (channelId) => (await channel(channelId))?.name ?? null,
    roomOf: async (guildId) => ({ externalId: guildId, name: nameForPeople((await guild(guildId))?.name ?? guildId) }),
  }
}
