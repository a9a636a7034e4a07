import Bot from 'lucide-solid/icons/bot'
import CalendarClock from 'lucide-solid/icons/calendar-clock'
import MessageCircle from 'lucide-solid/icons/message-circle'
import MessageSquare from 'lucide-solid/icons/message-square'
import Send from 'lucide-solid/icons/send'
import Webhook from 'lucide-solid/icons/webhook'
import type { JSX } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { JobChannel } from '../../../src-runner/contract/jobs.ts'
import type { Icon } from '../../ui/icon.ts'

/** No logos of other companies; the names tell the channels apart. */
const ICONS: Record<JobChannel, Icon> = {
  chat: MessageSquare,
  api: Send,
  webhook: Webhook,
  schedule: CalendarClock,
  telegram: MessageCircle,
  discord: MessageCircle,
  slack: MessageCircle,
  messenger: MessageCircle,
  delegation: Bot,
}

/** The icon of a job's channel. The name stands beside it. */
export function ChannelIcon(props: { channel: JobChannel; size?: number }): JSX.Element {
  return (
    <span class="inline-flex shrink-0 text-ink-3">
      <Dynamic component={ICONS[props.channel]} size={props.size ?? 14} aria-hidden="true" />
    </span>
  )
}
