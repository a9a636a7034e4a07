import { z } from 'zod'
import type { TextKey, TextParams } from '../../resources/locales/texts.ts'

type CodeOf<Key> = Key extends `messages.${infer Code}` ? Code : never

/** The name of a text below `messages` in resources/locales. Rows keep codes, so a code never changes its meaning. */
export type MessageCode = CodeOf<TextKey>

/** Where a text takes a string, it also takes another message, or a list of both, which is written as "a, b, and c". */
export type MessageParams<C extends MessageCode> = {
  [Name in keyof TextParams[`messages.${C}`]]: TextParams[`messages.${C}`][Name] extends string
    ? string | Message | (string | Message)[]
    : TextParams[`messages.${C}`][Name]
}

/**
 * What Deckhand stores, sends and shows in place of a sentence. Each reader renders it in its own language. Words of others
 * (a provider, a program) are the parameter of a message, `quoted` if there is no better one. Log lines are English, for developers.
 */
export type Message = { [C in MessageCode]: { code: C; params: MessageParams<C> } }[MessageCode]

/** Codes are not checked against the catalogue: a row may be of another version, and must stay readable. */
export const Message = z.object({
  code: z.string(),
  get params() {
    return z.record(z.string(), z.union([z.string(), z.number(), Message, z.array(z.union([z.string(), Message]))]))
  },
}) as unknown as z.ZodType<Message>
