/** Opens a new chat with the focus in its field, also from another chat. */
export const NEW_CHAT = '/chat?write=1'
