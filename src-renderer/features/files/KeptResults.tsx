import { For, type JSX, Match, Show, Switch } from 'solid-js'
import type { KeptResult } from '../../../src-runner/contract/files.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useKeptResult, useKeptResults } from '../../api/queries.ts'
import { blobOf, download } from '../../lib/files.ts'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { FoldRow } from '../../ui/FoldRow.tsx'
import { Panel } from '../../ui/Panel.tsx'

/** These are only pixels. Others, such as SVG, can hold scripts and addresses. */
const IMAGES = /^image\/(png|jpeg|gif|webp)$/
const MAX_SHOWN_CHARS = 200_000

/** What the calls of a job returned beyond what a model reads at once. Shows nothing when there is none. */
export function KeptResults(props: { jobId: string }): JSX.Element {
  const answer = useKeptResults(() => props.jobId)
  const results = () => answer.data?.results ?? []
  return (
    <Show when={results().length > 0}>
      <Panel title={t('files.results.title')} description={t('files.results.about')} flush>
        <ul class="flex flex-col">
          <For each={results()}>{(result) => <ResultLine jobId={props.jobId} result={result} />}</For>
        </ul>
      </Panel>
    </Show>
  )
}

function ResultLine(props: { jobId: string; result: KeptResult }): JSX.Element {
  return (
    <FoldRow
      head={
        <>
          <span class="text-sm font-medium">{t('files.results.one', { number: String(props.result.number) })}</span>
          <span class="min-w-0 font-mono text-xs wrap-anywhere text-ink-3">{visibleText(props.result.tool)}</span>
          <span class="ml-auto text-xs wrap-anywhere text-ink-3">
            {visibleText(props.result.type)} · {bytesText(props.result.size, locale())}
          </span>
        </>
      }
    >
      <Content jobId={props.jobId} result={props.result} />
      <SaveButton jobId={props.jobId} result={props.result} />
    </FoldRow>
  )
}

function Content(props: { jobId: string; result: KeptResult }): JSX.Element {
  const answer = useKeptResult(() => ({ jobId: props.jobId, number: props.result.number }))
  return (
    <Switch fallback={<AnswerState compact answer={answer} rows={3} />}>
      <Match when={!props.result.type.startsWith('text/') && !IMAGES.test(props.result.type)}>
        <p class="text-sm text-ink-3">{t('files.results.notShown')}</p>
      </Match>
      <Match when={answer.data && IMAGES.test(props.result.type) && answer.data}>
        {(data) => (
          <img
            class="max-h-120 max-w-full self-start rounded-md border border-line"
            src={`data:${props.result.type};base64,${data().base64}`}
            alt={t('files.results.one', { number: String(props.result.number) })}
          />
        )}
      </Match>
      <Match when={answer.data}>
        {(data) => (
          <pre
            tabIndex={0}
            class="scroll-quiet max-h-120 overflow-auto rounded-md border border-line bg-inset p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink"
          >
            {textIn(data().base64)}
          </pre>
        )}
      </Match>
    </Switch>
  )
}

/** Nothing is opened by saving, whatever type the server claims. */
function SaveButton(props: { jobId: string; result: KeptResult }): JSX.Element {
  const answer = useKeptResult(() => ({ jobId: props.jobId, number: props.result.number }))
  const extension = () => /^(?:image|text)\/(png|jpeg|gif|webp|plain|csv|html)$/.exec(props.result.type)?.[1] ?? 'bin'
  return (
    <Show when={answer.data}>
      {(data) => (
        <Button
          size="sm"
          class="self-start"
          onClick={() => {
            download(
              blobOf(data().base64, 'application/octet-stream'),
              `result-${props.result.number}.${extension().replace('plain', 'txt')}`,
            )
          }}
        >
          {t('common.save')}
        </Button>
      )}
    </Show>
  )
}

function textIn(base64: string): string {
  return visibleText(new TextDecoder().decode(bytesIn(base64)).slice(0, MAX_SHOWN_CHARS))
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.codePointAt(0)!)
}
