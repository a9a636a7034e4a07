/** A new chat with the cursor in its field, also from a chat that is open already. */
export const NEW_CHAT = '/chat?write=1'
