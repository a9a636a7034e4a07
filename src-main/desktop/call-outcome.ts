import type { DesktopOutcome } from '../contract/desktop-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import { MessageError } from '../message-error.ts'

/** Runs a call of the window. Does not reject: the page renders the message in the person's language. */
export async function outcomeOf(call: string, run: () => Promise<unknown>, log: Log): Promise<DesktopOutcome> {
  try {
    return { ok: true, value: await run() }
  } catch (error) {
    log.warn({ call, error: messageOf(error) }, 'a call of the window failed')
    if (error instanceof MessageError) return { ok: false, message: error.detail }
    return { ok: false, message: { code: 'desktop_call_failed', params: { why: messageOf(error) } } }
  }
}
