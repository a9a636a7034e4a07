import { For, type JSX, Show } from 'solid-js'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'

/**
 * All arguments of a call under their names: strings with their line breaks, everything else as JSON. Nothing is folded away
 * or rendered as markup, and hidden characters are written out.
 */
export function Arguments(props: { args: unknown; compact?: boolean }): JSX.Element {
  const entries = (): [string, unknown][] => {
    const { args } = props
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return Object.entries(args)
    return args === null || args === undefined ? [] : [['', args]]
  }
  return (
    <Show when={entries().length > 0} fallback={<p class="text-sm text-ink-3">{t('approvals.noArguments')}</p>}>
      <dl class="flex flex-col overflow-hidden rounded-lg border border-line bg-inset">
        <For each={entries()}>
          {([name, value]) => (
            <div class="flex min-w-0 gap-3 border-b border-line px-3 py-1.5 last:border-b-0 max-sm:flex-col max-sm:gap-0.5">
              <dt class="w-24 shrink-0 py-0.5 font-mono text-xs wrap-anywhere text-ink-3">
                {name === '' ? t('turn.arguments') : visibleText(name)}
              </dt>
              <dd class="flex min-w-0 flex-1 items-start gap-1">
                <Value name={name === '' ? t('turn.arguments') : name} value={value} compact={props.compact} />
              </dd>
            </div>
          )}
        </For>
      </dl>
    </Show>
  )
}

function Value(props: { name: string; value: unknown; compact?: boolean }): JSX.Element {
  const desktop = useDesktop()
  const height = () => (props.compact ? 'max-h-28' : 'max-h-96')
  return (
    <>
      <Show
        when={isListOfTexts(props.value) && props.value}
        fallback={
          <pre
            tabIndex={0}
            role="group"
            aria-label={props.name}
            class={`scroll-quiet min-w-0 flex-1 self-center overflow-auto py-0.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink ${height()}`}
          >
            {visibleText(textOf(props.value))}
          </pre>
        }
      >
        {(parts) => (
          <div class={`scroll-quiet min-w-0 flex-1 overflow-auto py-0.5 ${height()}`} role="group" aria-label={props.name} tabIndex={0}>
            <ol aria-label={props.name} class="flex flex-col gap-0.5">
              <For each={parts()}>
                {(part, at) => (
                  <li class="flex gap-2 font-mono text-xs">
                    <span class="w-4 shrink-0 text-right text-ink-3 select-none" aria-hidden="true">
                      {at() + 1}
                    </span>
                    <pre class="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(part)}</pre>
                  </li>
                )}
              </For>
            </ol>
          </div>
        )}
      </Show>
      <CopyButton text={() => textOf(props.value)} copy={(copied) => desktop.copyText(copied)} size="sm" />
    </>
  )
}

/** A list of strings, such as a command, is shown word by word, because escaped JSON is hard to read. */
function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')
}
