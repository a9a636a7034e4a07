import type { DesktopCallName } from './desktop-api.ts'

/** The names under which the window and the desktop talk. One channel per call, so that each has its own schema. */
export const callChannel = (name: DesktopCallName) => `deckhand:call:${name}`
export const STATE_CHANNEL = 'deckhand:state'
export const COMMAND_CHANNEL = 'deckhand:command'
