/** The system passes this when it starts Deckhand at login: start in the tray, without a window. */
export const HIDDEN_FLAG = '--hidden'
