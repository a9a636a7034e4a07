import type { DesktopApi, DesktopBridge, DesktopOutcome } from '../../src-main/contract/desktop-api.ts'
import { MessageError } from '../lib/failure-text.ts'

/** The calls of the bridge. Those that fail reject with the message. */
export function createDesktopApi({ onState, onCommand, ...calls }: DesktopBridge): DesktopApi {
  const api = Object.entries(calls).map(([name, call]) => [name, async (argument: never) => valueOf(await call(argument))])
  return { ...(Object.fromEntries(api) as DesktopApi), onState, onCommand }
}

function valueOf(outcome: DesktopOutcome): unknown {
  if (!outcome.ok) throw new MessageError(outcome.message)
  return outcome.value
}
