import type { DesktopCallName } from './desktop-api.ts'

/** IPC channel names. One channel per call, so that each has its own schema. */
export const callChannel = (name: DesktopCallName) => `deckhand:call:${name}`
export const STATE_CHANNEL = 'deckhand:state'
export const COMMAND_CHANNEL = 'deckhand:command'
