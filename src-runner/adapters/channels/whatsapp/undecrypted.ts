import type { WAMessage } from '@whiskeysockets/baileys'
import type { Clock } from '../../../lib/clock.ts'
import type { LinkState } from './link-state.ts'

/** What is kept of a message that could not be decrypted. */
export type Undecrypted = Pick<WAMessage, 'key' | 'pushName' | 'messageTimestamp'>

const NAME = 'undecrypted'
/** A phone that is on repeats a message within seconds. */
const REPEATED_WITHIN_MS = 10 * 60_000
const MOST = 100

/** Messages that could not be decrypted, until they are repeated or reported. They are in the link state, so they survive a kill. */
export function createUndecrypted(state: LinkState, clock: Clock) {
  const nameOf = (id: string) => `${NAME} ${id}`
  const names = () => [...state.names()].filter((name) => name.startsWith(`${NAME} `))
  const read = (name: string) => JSON.parse(state.get(name)!) as { at: number; message: Undecrypted }

  return {
    /** The sender's phone is asked to repeat it. */
    add({ key, pushName, messageTimestamp }: Undecrypted): void {
      const name = nameOf(key.id!)
      if (state.get(name) !== undefined) return
      const tooMany = names().slice(0, -(MOST - 1))
      const entry = { at: clock.now(), message: { key, pushName, messageTimestamp: Number(messageTimestamp ?? 0) } }
      state.write([...tooMany.map((one) => [one, null] as const), [name, JSON.stringify(entry)]])
    },
    remove(id: string): void {
      state.write([[nameOf(id), null]])
    },
    /** Those that were not repeated in time. */
    listLost: (): Undecrypted[] =>
      names()
        .map(read)
        .flatMap(({ at, message }) => (Math.abs(clock.now() - at) < REPEATED_WITHIN_MS ? [] : [message])),
  }
}
