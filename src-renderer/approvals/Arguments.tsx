import { For, type JSX, Show } from 'solid-js'
import { visibleText } from '../kit/visible-text.ts'
import { words } from '../kit/words/words.ts'
import { useDesktop } from '../platform/DesktopProvider.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'

/**
 * The arguments of a call, all of them and as they are: one by one under their names, texts with their own line breaks,
 * everything else as JSON. Nothing is folded away or drawn as markup, and signs that hide are written out.
 */
export function Arguments(props: { args: unknown; compact?: boolean }): JSX.Element {
  const desktop = useDesktop()
  const entries = (): { name: string; text: string }[] => {
    const { args } = props
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
      return Object.entries(args).map(([name, value]) => ({ name, text: valueText(value) }))
    }
    return args === null || args === undefined ? [] : [{ name: '', text: valueText(args) }]
  }
  return (
    <Show when={entries().length > 0} fallback={<p class="text-sm text-ink-3">{words().approvals.noArguments}</p>}>
      <dl class="flex flex-col overflow-hidden rounded-lg border border-line bg-inset">
        <For each={entries()}>
          {({ name, text }) => (
            <div class="flex min-w-0 gap-3 border-b border-line px-3 py-1.5 last:border-b-0 max-sm:flex-col max-sm:gap-0.5">
              <dt class="w-24 shrink-0 py-0.5 font-mono text-xs wrap-anywhere text-ink-3">
                {name === '' ? words().turn.arguments : visibleText(name)}
              </dt>
              <dd class="flex min-w-0 flex-1 items-start gap-1">
                <pre
                  tabIndex={0}
                  role="group"
                  aria-label={name === '' ? words().turn.arguments : name}
                  class={`scroll-quiet min-w-0 flex-1 overflow-auto py-0.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink ${props.compact ? 'max-h-28' : 'max-h-96'}`}
                >
                  {visibleText(text)}
                </pre>
                <CopyButton text={() => text} copy={(copied) => desktop.copyText(copied)} size="sm" />
              </dd>
            </div>
          )}
        </For>
      </dl>
    </Show>
  )
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')
}
