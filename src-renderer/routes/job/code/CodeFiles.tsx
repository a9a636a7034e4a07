import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { CodeTask, CodeTaskFile } from '../../../../src-runner/contract/code-tasks.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useCodeDiff } from '../../../api/queries.ts'
import { LineCounts } from '../../../features/coding/LineCounts.tsx'
import { DiffView } from '../../../features/files/DiffView.tsx'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { FoldRow } from '../../../ui/FoldRow.tsx'
import { Pill } from '../../../ui/Pill.tsx'

const CHANGES = { added: 'added', modified: 'modified', deleted: 'deleted', renamed: 'moved' } as const
const TONES = { added: 'ok', modified: 'accent', deleted: 'bad', renamed: 'plain' } as const
/** More slow the page down. */
const AT_ONCE = 100

/** The changed files of a code task, each with its diff. */
export function CodeFiles(props: { task: CodeTask }): JSX.Element {
  const [shown, setShown] = createSignal(AT_ONCE)
  const files = () => props.task.files.slice(0, shown())
  const left = () => props.task.files.length - files().length
  const unlisted = () => props.task.fileCount - props.task.files.length
  return (
    <>
      <ul class="flex flex-col pb-1">
        <For each={files()}>{(file) => <FileLine jobId={props.task.jobId} file={file} isGone={props.task.result === 'discarded'} />}</For>
      </ul>
      <Show when={left() > 0}>
        <div class="px-4 pb-3">
          <Button size="sm" onClick={() => setShown(shown() + AT_ONCE)}>
            {t('code.task.showMore', { count: Math.min(left(), AT_ONCE) })}
          </Button>
        </div>
      </Show>
      <Show when={left() === 0 && unlisted() > 0}>
        <p class="px-4 pb-3 text-xs text-warn">{t('code.task.moreFiles', { count: unlisted() })}</p>
      </Show>
    </>
  )
}

function FileLine(props: { jobId: string; file: CodeTaskFile; /** Its branch is deleted. */ isGone: boolean }): JSX.Element {
  const name = (
    <>
      <Pill tone={TONES[props.file.change]}>{t(`files.change.${CHANGES[props.file.change]}`)}</Pill>
      <span class="min-w-0 font-mono text-xs wrap-anywhere text-ink">
        {visibleText(props.file.path)}
        <Show when={props.file.from}>
          {(from) => <span class="text-ink-3"> ({t('files.movedFrom', { path: visibleText(from()) })})</span>}
        </Show>
      </span>
      <Show when={props.file.runsByItself}>
        <Pill tone="warn" title={t('code.task.runsByItselfWhy')}>
          {t('code.task.runsByItself')}
        </Pill>
      </Show>
    </>
  )
  const counts = <LineCounts additions={props.file.additions} deletions={props.file.deletions} />
  return (
    <Show
      when={!props.isGone}
      fallback={
        <li class="flex items-center gap-2.5 border-t border-line px-4 py-2 first:border-t-0">
          <span class="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5">{name}</span>
          {counts}
        </li>
      }
    >
      <FoldRow head={name} aside={counts}>
        <Show when={props.file.runsByItself}>
          <p class="text-xs text-warn">{t('code.task.runsByItselfWhy')}</p>
        </Show>
        <Changes jobId={props.jobId} file={props.file} />
      </FoldRow>
    </Show>
  )
}

function Changes(props: { jobId: string; file: CodeTaskFile }): JSX.Element {
  const answer = useCodeDiff(() => ({ jobId: props.jobId, path: props.file.path }))
  return (
    <Switch fallback={<AnswerState compact answer={answer} rows={3} />}>
      <Match when={answer.data?.binary}>
        <p class="text-sm text-ink-2">{t('code.task.binary')}</p>
      </Match>
      <Match when={answer.data}>
        {(data) => (
          <>
            <Show when={/^@@ /m.test(data().diff)} fallback={<p class="text-sm text-ink-3">{t('code.task.noText')}</p>}>
              <DiffView path={props.file.path} diff={data().diff} />
            </Show>
            <Show when={data().truncated}>
              <p class="text-xs text-warn">{t('code.task.truncated')}</p>
            </Show>
          </>
        )}
      </Match>
    </Switch>
  )
}
