import CircleAlert from 'lucide-solid/icons/circle-alert'
import CircleCheck from 'lucide-solid/icons/circle-check'
import X from 'lucide-solid/icons/x'
import { createSignal, For, Show } from 'solid-js'
import { Portal } from 'solid-js/web'
import { t } from '../lib/language.ts'

export type Toast = { text: string; tone?: 'ok' | 'bad'; action?: { label: string; onClick: () => void } }
type Shown = Toast & { id: number }

const [toasts, setToasts] = createSignal<Shown[]>([])
const READING_MS = 6000
let lastId = 0

/** Announces something that happened elsewhere. Results of what the person looks at are shown in place. */
export function toast(next: Toast): void {
  const id = ++lastId
  setToasts((shown) => [...shown.slice(-3), { ...next, id }])
  setTimeout(() => dismiss(id), next.action || next.tone === 'bad' ? READING_MS * 2 : READING_MS)
}

function dismiss(id: number): void {
  setToasts((shown) => shown.filter((one) => one.id !== id))
}

export function dismissAllToasts(): void {
  setToasts([])
}

/** Rendered once in the page. */
export function Toasts() {
  return (
    <Portal>
      {/* Kobalte's dialogs hide what is behind them; this stays above, also for screen readers. */}
      <div
        data-kb-top-layer=""
        role="status"
        aria-live="polite"
        class="pointer-events-none fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 max-md:bottom-18"
      >
        <For each={toasts()}>
          {(one) => (
            <div class="animate-appear pointer-events-auto flex items-start gap-2.5 rounded-lg bg-surface px-3 py-2.5 shadow-pop">
              <span class={`mt-0.5 ${one.tone === 'bad' ? 'text-bad' : 'text-ok'}`}>
                <Show when={one.tone === 'bad'} fallback={<CircleCheck size={15} aria-hidden="true" />}>
                  <CircleAlert size={15} aria-hidden="true" />
                </Show>
              </span>
              <p class="min-w-0 flex-1 text-sm wrap-break-word">{one.text}</p>
              <Show when={one.action}>
                {(action) => (
                  <button
                    type="button"
                    class="shrink-0 text-sm font-medium text-accent-ink hover:underline"
                    onClick={() => {
                      action().onClick()
                      dismiss(one.id)
                    }}
                  >
                    {action().label}
                  </button>
                )}
              </Show>
              <button
                type="button"
                aria-label={t('common.dismiss')}
                class="shrink-0 rounded-sm p-0.5 text-ink-3 hover:text-ink"
                onClick={() => dismiss(one.id)}
              >
                <X size={14} aria-hidden="true" />
              </button>
            </div>
          )}
        </For>
      </div>
    </Portal>
  )
}
