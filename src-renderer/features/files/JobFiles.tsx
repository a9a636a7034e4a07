import Undo2 from 'lucide-solid/icons/undo-2'
import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { WrittenFile } from '../../../src-runner/contract/files.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useFileDiff, useJobFiles } from '../../api/queries.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { locale, t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { FoldRow } from '../../ui/FoldRow.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { DiffView } from './DiffView.tsx'

type Change = WrittenFile['change'] | 'moved'
const TONES: Record<Change, 'ok' | 'accent' | 'bad' | 'plain'> = { added: 'ok', modified: 'accent', deleted: 'bad', moved: 'plain' }

/** The files that a job changed, each with its diff and an undo. Shows nothing when there are none. */
export function JobFiles(props: { jobId: string; compact?: boolean }): JSX.Element {
  const answer = useJobFiles(() => props.jobId)
  const files = () => answer.data?.files ?? []
  const list = (
    <ul class={`flex flex-col ${props.compact ? 'overflow-hidden rounded-lg border border-line' : ''}`}>
      <For each={files()}>{(file) => <FileLine jobId={props.jobId} file={file} compact={props.compact} />}</For>
    </ul>
  )
  return (
    <Show when={files().length > 0}>
      <Show
        when={!props.compact}
        fallback={
          <section aria-label={t('files.title')} class="text-sm">
            {list}
          </section>
        }
      >
        <Panel title={t('files.title')} description={t('files.count', { count: files().length })} flush>
          {list}
        </Panel>
      </Show>
    </Show>
  )
}

function changeOf(file: WrittenFile): Change {
  return file.movedFrom !== null && file.change !== 'deleted' ? 'moved' : file.change
}

function FileLine(props: { jobId: string; file: WrittenFile; compact?: boolean }): JSX.Element {
  return (
    <FoldRow
      compact={props.compact}
      head={
        <>
          <Pill tone={TONES[changeOf(props.file)]}>{t(`files.change.${changeOf(props.file)}`)}</Pill>
          <span class={`min-w-0 font-mono text-xs wrap-anywhere ${props.file.undone ? 'text-ink-3 line-through' : 'text-ink'}`}>
            {visibleText(props.file.path)}
            <Show when={props.file.movedFrom}>
              {(from) => <span class="text-ink-3"> ({t('files.movedFrom', { path: visibleText(from()) })})</span>}
            </Show>
          </span>
        </>
      }
      aside={
        <Switch fallback={<UndoButton jobId={props.jobId} file={props.file} />}>
          <Match when={props.file.undone}>
            <span class="text-xs text-ink-3">{t('files.undone')}</span>
          </Match>
          <Match when={props.file.whyNoUndo}>
            {(why) => (
              <span class="text-xs text-ink-3" title={messageText(why())}>
                {t('files.cannot')}
              </span>
            )}
          </Match>
        </Switch>
      }
    >
      <FileChanges jobId={props.jobId} file={props.file} />
    </FoldRow>
  )
}

function FileChanges(props: { jobId: string; file: WrittenFile }): JSX.Element {
  const answer = useFileDiff(() => ({ jobId: props.jobId, path: props.file.path }))
  const size = (bytes: number | null) => (bytes === null ? '–' : bytesText(bytes, locale()))
  const isGone = () => props.file.sizeBefore === null && props.file.sizeAfter === null
  return (
    <Switch fallback={<AnswerState compact answer={answer} rows={3} />}>
      <Match when={isGone()}>
        <p class="text-sm text-ink-3">{t('files.gone')}</p>
      </Match>
      <Match when={answer.data}>
        {(data) => (
          <Switch>
            <Match when={data().binary}>
              <p class="text-sm text-ink-2">
                {t('files.binary')} {t('files.sizes', { before: size(props.file.sizeBefore), after: size(props.file.sizeAfter) })}
              </p>
            </Match>
            <Match when={data().diff === '' && data().truncated}>
              <p class="text-sm text-ink-3">{props.file.whyNoUndo === null ? t('files.notKept') : messageText(props.file.whyNoUndo)}</p>
            </Match>
            <Match when={!/^@@ /m.test(data().diff)}>
              <p class="text-sm text-ink-3">{props.file.movedFrom === null ? t('files.empty') : t('files.same')}</p>
            </Match>
            <Match when={true}>
              <DiffView path={props.file.path} diff={data().diff} />
              <Show when={data().truncated}>
                <p class="mt-1 text-xs text-warn">{t('files.truncated')}</p>
              </Show>
            </Match>
          </Switch>
        )}
      </Match>
    </Switch>
  )
}

/** Undo asks first. For a file that was changed since, it asks a second time and says what is lost. */
function UndoButton(props: { jobId: string; file: WrittenFile }): JSX.Element {
  const undo = useAction('undoFile')
  const [isAsking, setAsking] = createSignal(false)
  const [isForcing, setForcing] = createSignal(false)
  const [refused, setRefused] = createSignal<string | null>(null)
  const path = () => visibleText(props.file.path)
  const run = async (force: boolean) => {
    try {
      await undo.run({ params: { jobId: props.jobId }, body: { path: props.file.path, force } })
      toast({ text: t('files.undoneToast', { path: path() }) })
    } catch (thrown) {
      const code = thrown instanceof ApiError ? thrown.code : null
      if (code === 'file_changed_since' && !force) {
        setForcing(true)
        return
      }
      if (code === 'file_cannot_be_undone') {
        setRefused(sentenceOf(thrown))
        return
      }
      throw thrown
    }
  }
  return (
    <>
      <Show when={refused()}>
        {(why) => (
          <span role="alert" class="text-xs text-bad">
            {t('files.cannot')}: {why()}
          </span>
        )}
      </Show>
      <Button
        size="sm"
        variant="ghost"
        icon={Undo2}
        busy={undo.isRunning}
        aria-label={t('files.undoOf', { path: path() })}
        onClick={() => setAsking(true)}
      >
        {t('files.undo')}
      </Button>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('files.undoTitle', { path: path() })}
        confirm={t('files.undoNow')}
        onConfirm={() => run(false)}
        describeError={sentenceOf}
      >
        {t(`files.undoText.${changeOf(props.file)}`)}
      </ConfirmDialog>
      <ConfirmDialog
        open={isForcing()}
        onClose={() => setForcing(false)}
        title={t('files.changedSince')}
        confirm={t('files.undoAnyway')}
        tone="bad"
        onConfirm={() => run(true)}
        describeError={sentenceOf}
      >
        <p class="font-mono text-xs wrap-anywhere">{path()}</p>
        <p class="mt-1">{t('files.changedSinceText')}</p>
      </ConfirmDialog>
    </>
  )
}
