import { type JSX, Show } from 'solid-js'
import { t } from '../../lib/language.ts'

/** A list of facts, side by side. */
export function Facts(props: { children: JSX.Element; footer?: JSX.Element }): JSX.Element {
  return (
    <div class="flex flex-col gap-4 rounded-xl border border-line bg-surface p-4">
      <dl
        aria-label={t('automations.facts')}
        class="grid grid-cols-[repeat(auto-fill,minmax(14rem,1fr))] gap-x-6 gap-y-4 max-sm:grid-cols-2"
      >
        {props.children}
      </dl>
      {props.footer}
    </div>
  )
}

export function Fact(props: { name: string; title?: string; note?: JSX.Element; children: JSX.Element }): JSX.Element {
  return (
    <div class="min-w-0" title={props.title}>
      <dt class="text-2xs text-ink-3">{props.name}</dt>
      <dd class="min-w-0 text-sm text-ink">
        <div class="min-w-0 wrap-anywhere">{props.children}</div>
        <Show when={props.note}>
          <div class="text-xs text-ink-3">{props.note}</div>
        </Show>
      </dd>
    </div>
  )
}
