import { createSignal } from 'solid-js'

/** Opens a new chat with the focus in its field, also from another chat. */
export const NEW_CHAT = '/chat?write=1'

/** A text from a link that waits to be shown in the field of a new chat. */
export const [linkedTask, setLinkedTask] = createSignal<string | null>(null)
