import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import X from 'lucide-solid/icons/x'
import { createSignal, type JSX, onMount, Show } from 'solid-js'
import type { Recovery } from '../../../src-runner/contract/notifications.ts'
import { t } from '../../lib/language.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { Time } from '../../ui/Time.tsx'

const STORED_AS = 'deckhand.told-recovery'

/** Says once that jobs continue after a crash. It is gone when Home is opened or reloaded again. */
export function RecoveryNote(props: { recovery: Recovery }): JSX.Element {
  const [isTold, setTold] = createSignal(localStorage.getItem(STORED_AS) === String(props.recovery.at))
  onMount(() => localStorage.setItem(STORED_AS, String(props.recovery.at)))
  return (
    <Show when={!isTold()}>
      <div role="status" class="flex items-center gap-3 rounded-xl border border-line bg-surface px-4 py-2.5 text-sm text-ink-2">
        <RotateCcw size={16} class="shrink-0 text-ink-3" aria-hidden="true" />
        <p class="min-w-0 flex-1">
          {t('home.recovery.text', { count: props.recovery.jobs })} <Time at={props.recovery.at} class="text-xs text-ink-3" />
        </p>
        <IconButton size="sm" icon={X} label={t('home.recovery.seen')} onClick={() => setTold(true)} />
      </div>
    </Show>
  )
}
