import { createMemo, createSignal, For, type JSX, Show } from 'solid-js'
import { ReplyText } from '../../features/chat-turn/ReplyText.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { SegmentedControl } from '../../ui/SegmentedControl.tsx'
import { asMarkdown, hidesText } from './skill.ts'

const FIRST_LINES = 400

export type TextView = 'formatted' | 'source'

/** The choice between the two views of a text. */
export function ViewChoice(props: { view: TextView; onView: (view: TextView) => void }): JSX.Element {
  return (
    <SegmentedControl
      label={t('skills.text.view')}
      options={[
        { value: 'formatted', label: t('skills.text.formatted') },
        { value: 'source', label: t('skills.text.source') },
      ]}
      value={props.view}
      onValue={props.onView}
    />
  )
}

/** `SKILL.md`, exactly as the agent reads it, with line numbers, or formatted. */
export function SkillText(props: { text: string; view: TextView }): JSX.Element {
  return (
    <Show when={props.view === 'formatted'} fallback={<NumberedText label="SKILL.md" text={props.text} />}>
      <Show when={hidesText(props.text)}>
        <p class="mb-3 rounded-md bg-warn-soft px-3 py-2 text-xs text-warn">{t('skills.text.leavesOut')}</p>
      </Show>
      <div class="min-w-0 text-sm">
        <ReplyText text={asMarkdown(visibleText(props.text))} />
      </div>
    </Show>
  )
}

/** A text exactly as it is, with the numbers of its lines, which findings name. */
export function NumberedText(props: { label: string; text: string }): JSX.Element {
  const lines = createMemo(() => visibleText(props.text).replace(/\n$/, '').split('\n'))
  const [all, setAll] = createSignal(false)
  const shown = () => (all() ? lines() : lines().slice(0, FIRST_LINES))
  const hidden = () => lines().length - shown().length
  return (
    <div class="flex flex-col gap-1">
      <div
        role="group"
        aria-label={props.label}
        tabIndex={0}
        class="scroll-quiet max-h-[28rem] overflow-auto rounded-md border border-line bg-surface font-mono text-xs"
      >
        <table class="w-full border-collapse">
          <tbody>
            <For each={shown()}>
              {(line, at) => (
                <tr>
                  <td class="w-px px-2 py-px text-right align-top whitespace-nowrap text-ink-3 select-none">{at() + 1}</td>
                  <td class="py-px pr-2 wrap-anywhere whitespace-pre-wrap text-ink">{line}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
      <Show when={hidden() > 0}>
        <button
          type="button"
          class="self-start text-xs font-medium text-accent-ink hover:underline max-md:min-h-10"
          onClick={() => setAll(true)}
        >
          {t('files.long', { count: hidden() })}
        </button>
      </Show>
    </div>
  )
}
