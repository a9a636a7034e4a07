import { createSignal, For, type JSX, onCleanup, onMount, Show } from 'solid-js'
import { t } from '../lib/language.ts'

/** A placeholder for a shorter time would only flicker. */
export const SKELETON_AFTER_MS = 300

/** Shows its content only when it has been there for 300 ms. */
export function Late(props: { children: JSX.Element }) {
  const [late, setLate] = createSignal(false)
  onMount(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS)
    onCleanup(() => clearTimeout(timer))
  })
  return <Show when={late()}>{props.children}</Show>
}

/** Bars in place of text or rows that load. */
export function Skeleton(props: { rows?: number; class?: string }) {
  return (
    <div class={props.class} role="status" aria-label={t('common.loading')}>
      <Late>
        <div class="flex flex-col gap-3">
          <For each={Array.from({ length: props.rows ?? 3 })}>
            {(_, i) => <div class={`animate-breathe h-4 rounded-sm bg-hover ${['w-11/12', 'w-3/4', 'w-5/6', 'w-2/3'][i() % 4]}`} />}
          </For>
        </div>
      </Late>
    </div>
  )
}
