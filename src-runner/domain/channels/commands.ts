import type { Translate } from '../../../resources/locales/translate.ts'

/** Commands that a chat understands without an agent, in the order in which they are shown. */
export const CHAT_COMMANDS = ['new', 'stop', 'agents', 'help'] as const

/** `start` is what a service writes for a person who opens the chat, so it is understood and not shown. */
export type ChatCommand = (typeof CHAT_COMMANDS)[number] | 'start'

const COMMAND = new RegExp(`^/(start|${CHAT_COMMANDS.join('|')})(?:@\\w+)?(?:\\s|$)`, 'i')

/** `rest`: the words behind it. Returns null if the text is no command. */
export function commandIn(text: string): { name: ChatCommand; rest: string } | null {
  const found = COMMAND.exec(text)
  if (found === null) return null
  return { name: found[1]!.toLowerCase() as ChatCommand, rest: text.slice(found[0].length).trim() }
}

export function commandsText(t: Translate): string {
  return CHAT_COMMANDS.map((name) => `/${name} ${t(`outbound.command.${name}`)}.`).join('\n')
}
