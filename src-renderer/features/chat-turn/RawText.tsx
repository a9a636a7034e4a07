import { createSignal, Show } from 'solid-js'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'

const FIRST_CHARS = 4000
/** How much more each press shows. A megabyte of text at once would freeze the page. */
const MORE_CHARS = 100_000

/** A text exactly as it is, with its hidden characters written out, and a label. A long text is shown in parts. */
export function RawText(props: { label: string; text: string }) {
  const desktop = useDesktop()
  const [shownChars, setShownChars] = createSignal(FIRST_CHARS)
  const isCut = () => props.text.length > shownChars()
  return (
    <div class="min-w-0">
      <div class="flex items-center justify-between gap-2">
        <span class="text-2xs font-semibold tracking-wide text-ink-3">{props.label}</span>
        <CopyButton text={() => props.text} copy={(text) => desktop.copyText(text)} size="sm" />
      </div>
      <pre
        tabIndex={0}
        role="group"
        aria-label={props.label}
        class="scroll-quiet max-h-80 overflow-auto rounded-md border border-line bg-inset px-2.5 py-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink-2"
      >
        {visibleText(props.text.slice(0, shownChars()))}
        {isCut() ? '…' : ''}
      </pre>
      <Show when={isCut()}>
        <button
          type="button"
          class="mt-1 text-xs font-medium text-accent-ink hover:underline"
          onClick={() => setShownChars(shownChars() + MORE_CHARS)}
        >
          {props.text.length - shownChars() > MORE_CHARS ? t('common.more') : t('turn.showMore')} (
          {t('turn.characters', { count: props.text.length })})
        </button>
      </Show>
    </div>
  )
}

/** Any data as text: indented JSON, or a string as it is. */
export function rawTextOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}
