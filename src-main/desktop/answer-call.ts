import { DESKTOP_CALLS, type DesktopCallName, type DesktopOutcome } from '../contract/desktop-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import { MessageError } from '../message-error.ts'
import { mayAskDesktop, type SendingFrame } from '../security/own-page.ts'

/** Checks the sender and the argument of a call, then runs it. Does not reject: the page renders the message in the person's language. */
export async function answerCall(
  name: DesktopCallName,
  { frame, argument }: { frame: () => SendingFrame; argument: unknown },
  run: (argument: unknown) => Promise<unknown>,
  log: Log,
): Promise<DesktopOutcome> {
  try {
    if (!mayAskDesktop(frame())) {
      log.warn({ call: name }, 'something other than the page of the app called the desktop')
      return { ok: false, message: { code: 'error_unauthorized', params: {} } }
    }
    const parsed = DESKTOP_CALLS[name].argument.safeParse(argument)
    if (!parsed.success) {
      const issues = parsed.error.issues.map((issue) => issue.path.join('.'))
      log.warn({ call: name, issues }, 'the window sent an invalid argument')
      return { ok: false, message: { code: 'error_invalid_request', params: {} } }
    }
    return { ok: true, value: await run(parsed.data) }
  } catch (error) {
    log.warn({ call: name, error: messageOf(error) }, 'a call of the window failed')
    if (error instanceof MessageError) return { ok: false, message: error.detail }
    return { ok: false, message: { code: 'desktop_call_failed', params: { why: messageOf(error) } } }
  }
}
