import Ban from 'lucide-solid/icons/ban'
import BotOff from 'lucide-solid/icons/bot-off'
import Braces from 'lucide-solid/icons/braces'
import CircleCheck from 'lucide-solid/icons/circle-check'
import CirclePause from 'lucide-solid/icons/circle-pause'
import CircleX from 'lucide-solid/icons/circle-x'
import CopyCheck from 'lucide-solid/icons/copy-check'
import FileX from 'lucide-solid/icons/file-x'
import Gauge from 'lucide-solid/icons/gauge'
import KeyRound from 'lucide-solid/icons/key-round'
import Radio from 'lucide-solid/icons/radio'
import ShieldX from 'lucide-solid/icons/shield-x'
import Unplug from 'lucide-solid/icons/unplug'
import type { JSX } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { DeliveryOutcome } from '../../../../src-runner/contract/triggers.ts'
import type { Icon } from '../../../ui/icon.ts'

/** Each outcome has its own icon and a word beside it, so that nobody needs the colour. */
const LOOKS: Record<DeliveryOutcome, { icon: Icon; tone: string }> = {
  accepted: { icon: CircleCheck, tone: 'text-ok' },
  duplicate: { icon: CopyCheck, tone: 'text-ink-3' },
  wrong_secret: { icon: KeyRound, tone: 'text-warn' },
  paused: { icon: CirclePause, tone: 'text-ink-3' },
  bad_signature: { icon: ShieldX, tone: 'text-bad' },
  rate_limited: { icon: Gauge, tone: 'text-warn' },
  too_many_at_once: { icon: Gauge, tone: 'text-warn' },
  unsupported_media_type: { icon: FileX, tone: 'text-bad' },
  unsupported_encoding: { icon: FileX, tone: 'text-bad' },
  payload_too_large: { icon: Ban, tone: 'text-bad' },
  invalid_json: { icon: FileX, tone: 'text-bad' },
  incomplete: { icon: Unplug, tone: 'text-warn' },
  no_agent: { icon: BotOff, tone: 'text-bad' },
  placeholder_missing: { icon: Braces, tone: 'text-bad' },
  ping: { icon: Radio, tone: 'text-ok' },
  job_creation_failed: { icon: CircleX, tone: 'text-bad' },
}

export function OutcomeIcon(props: { outcome: DeliveryOutcome }): JSX.Element {
  return (
    <span class={`inline-flex shrink-0 ${LOOKS[props.outcome].tone}`}>
      <Dynamic component={LOOKS[props.outcome].icon} size={16} aria-hidden="true" />
    </span>
  )
}

/** The sender did nothing wrong: its delivery, or the one it repeats, made a job, or it tested the address. */
export function wasTaken(outcome: DeliveryOutcome): boolean {
  return outcome === 'accepted' || outcome === 'duplicate' || outcome === 'ping'
}
