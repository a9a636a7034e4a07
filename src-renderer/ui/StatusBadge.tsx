import Circle from 'lucide-solid/icons/circle'
import CircleCheck from 'lucide-solid/icons/circle-check'
import CircleDotDashed from 'lucide-solid/icons/circle-dot-dashed'
import CirclePause from 'lucide-solid/icons/circle-pause'
import CircleSlash from 'lucide-solid/icons/circle-slash'
import CircleX from 'lucide-solid/icons/circle-x'
import Hourglass from 'lucide-solid/icons/hourglass'
import { Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { t } from '../lib/language.ts'
import type { Icon } from './icon.ts'

export type Status = 'pending' | 'running' | 'awaiting_approval' | 'awaiting_child' | 'completed' | 'failed' | 'cancelled'

/** Each status has a shape and a word; the colour only helps. */
const LOOKS: Record<Status, { icon: Icon; text: string; soft: string }> = {
  pending: { icon: Circle, text: 'text-ink-3', soft: 'bg-hover text-ink-2' },
  running: { icon: CircleDotDashed, text: 'text-accent-ink', soft: 'bg-accent-soft text-accent-ink' },
  awaiting_approval: { icon: CirclePause, text: 'text-warn', soft: 'bg-warn-soft text-warn' },
  awaiting_child: { icon: Hourglass, text: 'text-ink-2', soft: 'bg-hover text-ink-2' },
  completed: { icon: CircleCheck, text: 'text-ok', soft: 'bg-ok-soft text-ok' },
  failed: { icon: CircleX, text: 'text-bad', soft: 'bg-bad-soft text-bad' },
  cancelled: { icon: CircleSlash, text: 'text-ink-3', soft: 'bg-hover text-ink-2' },
}

/** `icon` only where a list has a column for it: the word is then read out and shown on hover. */
export function StatusBadge(props: { status: Status; show?: 'icon' | 'full'; stopping?: boolean }) {
  const look = () => LOOKS[props.status]
  const word = () => (props.stopping ? t('common.stopping') : t(`common.status.${props.status}`))
  const spins = () => (props.status === 'running' ? 'animate-spin [animation-duration:3s]' : '')
  return (
    <Show
      when={props.show === 'icon'}
      fallback={
        <span class={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap ${look().soft}`}>
          <Dynamic component={look().icon} size={12} class={spins()} aria-hidden="true" />
          {word()}
        </span>
      }
    >
      <span class={`inline-flex shrink-0 ${look().text}`} title={word()}>
        <Dynamic component={look().icon} size={16} class={spins()} aria-hidden="true" />
        <span class="sr-only">{word()}</span>
      </span>
    </Show>
  )
}
