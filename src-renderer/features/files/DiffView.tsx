import { createMemo, createSignal, For, type JSX, Show } from 'solid-js'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { type DiffLine, parseDiff } from './unified-diff.ts'

/** How many lines are shown at first. More slow the page down and are rarely read. */
const FIRST_LINES = 400

const LOOKS = { same: '', add: 'bg-ok-soft', remove: 'bg-bad-soft' }
const SIGNS = { same: ' ', add: '+', remove: '−' }
const SIGN_TONES = { same: '', add: 'text-ok', remove: 'text-bad' }

/** A diff with the line numbers of both sides. A sign and a colour mark each change. */
export function DiffView(props: { path: string; diff: string; /** A class for the maximum height. */ height?: string }): JSX.Element {
  const parsed = createMemo(() => parseDiff(props.diff))
  const [all, setAll] = createSignal(false)
  const lines = () => (all() ? parsed().lines : parsed().lines.slice(0, FIRST_LINES))
  const hidden = () => parsed().lines.length - lines().length
  return (
    <div class="flex flex-col gap-1">
      <p class="flex gap-3 text-xs">
        <Show when={parsed().added > 0}>
          <span class="text-ok">{t('files.added', { count: parsed().added })}</span>
        </Show>
        <Show when={parsed().removed > 0}>
          <span class="text-bad">{t('files.removed', { count: parsed().removed })}</span>
        </Show>
      </p>
      <div
        role="group"
        aria-label={t('files.diff', { path: props.path })}
        tabIndex={0}
        class={`scroll-quiet overflow-auto rounded-md border border-line bg-surface font-mono text-xs ${props.height ?? 'max-h-[28rem]'}`}
      >
        <table class="w-full border-collapse">
          <tbody>
            <For each={lines()}>{(line) => <Line line={line} />}</For>
          </tbody>
        </table>
      </div>
      <Show when={hidden() > 0}>
        <button type="button" class="self-start text-xs font-medium text-accent-ink hover:underline" onClick={() => setAll(true)}>
          {t('files.long', { count: hidden() })}
        </button>
      </Show>
    </div>
  )
}

function Line(props: { line: DiffLine }): JSX.Element {
  const number = 'w-px px-2 text-right align-top whitespace-nowrap text-ink-3 select-none'
  return (
    <Show
      when={props.line.kind !== 'gap' && props.line}
      fallback={
        <tr class="bg-inset text-ink-3">
          <td class={number} colSpan={2} aria-hidden="true">
            ⋯
          </td>
          <td class="px-2 py-0.5" colSpan={2}>
            {visibleText(props.line.text)}
          </td>
        </tr>
      }
    >
      {(line) => (
        <tr class={LOOKS[line().kind]}>
          <td class={number}>{line().before}</td>
          <td class={number}>{line().after}</td>
          <td class={`w-px align-top font-semibold select-none ${SIGN_TONES[line().kind]}`}>
            <span aria-hidden="true">{SIGNS[line().kind]}</span>
            <Show when={line().kind !== 'same'}>
              <span class="sr-only">{line().kind === 'add' ? t('files.line.add') : t('files.line.remove')}: </span>
            </Show>
          </td>
          <td class="px-2 wrap-anywhere whitespace-pre-wrap text-ink">
            {visibleText(line().text)}
            <Show when={line().noEnd}>
              <span class="text-ink-3" title={t('files.noEnd')}>
                {' '}
                ⊘
              </span>
            </Show>
          </td>
        </tr>
      )}
    </Show>
  )
}
