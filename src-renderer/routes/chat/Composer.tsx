import ArrowDown from 'lucide-solid/icons/arrow-down'
import ArrowUp from 'lucide-solid/icons/arrow-up'
import CircleStop from 'lucide-solid/icons/circle-stop'
import { createEffect, createMemo, createSignal, type JSX, on, Show } from 'solid-js'
import { MAX_TASK_CHARS } from '../../../src-runner/contract/primitives.ts'
import { keepDraft, readDraft } from '../../lib/drafts.ts'
import { focusSoon } from '../../lib/focus.ts'
import { countText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { TextArea } from '../../ui/TextArea.tsx'

export type ComposerProps = {
  /** Changes whenever a chat is opened, also the same one again. The field then gets the focus. */
  opened: unknown
  /** The name of its draft. */
  draft: string
  placeholder: string
  /** No message can be sent now. */
  disabled?: boolean
  onSend: (text: string) => void
  /** Set while a turn runs. */
  onStop?: () => void
  isStopping?: boolean
  /** Scrolls to the newest turn. Set while the person reads further up. */
  onLatest?: (() => void) | undefined
  /** At the left of the buttons, for the agent of a new chat. */
  leading?: JSX.Element
  /** Changes whenever a text was put into the draft: a suggestion, or a message to edit. The field then gets the focus. */
  filled: unknown
}

/** The field for a message. Enter sends, Shift+Enter starts a new line. Drafts are kept for each conversation. */
export function Composer(props: ComposerProps) {
  const [text, setText] = createSignal('')
  let area: HTMLTextAreaElement | undefined
  createEffect(() => setText(readDraft(props.draft)))
  // Opening a chat focuses its field, wherever it was opened from.
  createEffect(
    on(
      () => props.opened,
      () => focusSoon(() => area),
    ),
  )
  createEffect(
    on(
      () => props.filled,
      () => area?.focus(),
      { defer: true },
    ),
  )
  const write = (next: string) => {
    setText(next)
    keepDraft(props.draft, next)
  }
  const isTooLong = () => text().length > MAX_TASK_CHARS
  const maySend = createMemo(() => text().trim() !== '' && !isTooLong() && props.disabled !== true)
  const send = () => {
    if (!maySend()) return
    const message = text().trim()
    write('')
    props.onSend(message)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div
      data-composer
      class={`rounded-xl border bg-surface shadow-card transition-colors duration-100 focus-within:border-accent-ink focus-within:outline-1 focus-within:outline-accent-ink ${isTooLong() ? 'border-bad' : 'border-line-strong'}`}
    >
      <TextArea
        bare
        label={t('chat.message')}
        hideLabel
        rows={1}
        maxRows={10}
        placeholder={props.placeholder}
        value={text()}
        onValue={write}
        onKeyDown={onKeyDown}
        problem={isTooLong() ? t('chat.tooLong', { max: countText(MAX_TASK_CHARS, locale()) }) : null}
        ref={(element) => (area = element)}
      />
      <div class="flex items-center gap-2 px-2 pb-2">
        {props.leading}
        <Show when={props.onLatest} fallback={<span class="ml-1 min-w-0 text-xs text-ink-3 max-sm:hidden">{t('chat.hint')}</span>}>
          {(latest) => (
            <Button size="sm" icon={ArrowDown} onClick={() => latest()()}>
              {t('chat.latest')}
            </Button>
          )}
        </Show>
        <span class="ml-auto flex items-center gap-2">
          <Show when={props.onStop}>
            {(stop) => (
              <Button icon={CircleStop} onClick={() => stop()()} disabled={props.isStopping}>
                {props.isStopping ? t('chat.stopping') : t('chat.stop')}
              </Button>
            )}
          </Show>
          <Button variant="primary" icon={ArrowUp} disabled={!maySend()} onClick={send}>
            {t('chat.send')}
          </Button>
        </span>
      </div>
    </div>
  )
}
