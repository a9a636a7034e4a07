/** What a chat understands by itself, without an agent that reads it, in the order in which it is shown. */
export const CHAT_COMMANDS = [
  { name: 'new', does: 'begins a new conversation' },
  { name: 'stop', does: 'stops what I am doing' },
  { name: 'help', does: 'shows these commands' },
] as const

export type ChatCommand = (typeof CHAT_COMMANDS)[number]['name'] | 'start'

const NAMES = ['start', ...CHAT_COMMANDS.map(({ name }) => name)]
const COMMAND = new RegExp(`^/(${NAMES.join('|')})(?:@\\w+)?(?:\\s|$)`, 'i')

/** `start` is what a service writes for a person who opens the chat, so it is understood and not shown. null: it is no command. */
export function commandIn(text: string): ChatCommand | null {
  return (COMMAND.exec(text)?.[1]?.toLowerCase() ?? null) as ChatCommand | null
}

export const COMMANDS_IN_WORDS = CHAT_COMMANDS.map(({ name, does }) => `/${name} ${does}.`).join('\n')
