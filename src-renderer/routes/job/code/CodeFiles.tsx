import { createSignal, For, type JSX, Show } from 'solid-js'
import type { CodeTask, CodeTaskFile } from '../../../../src-runner/contract/code-tasks.ts'
import { LineCounts } from '../../../features/coding/LineCounts.tsx'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Pill } from '../../../ui/Pill.tsx'

const CHANGES = { added: 'added', modified: 'modified', deleted: 'deleted', renamed: 'moved' } as const
const TONES = { added: 'ok', modified: 'accent', deleted: 'bad', renamed: 'plain' } as const
/** More slow the page down. */
const AT_ONCE = 100

/** The changed files of a code task. */
export function CodeFiles(props: { task: CodeTask }): JSX.Element {
  const [shown, setShown] = createSignal(AT_ONCE)
  const files = () => props.task.files.slice(0, shown())
  const left = () => props.task.files.length - files().length
  const unlisted = () => props.task.fileCount - props.task.files.length
  return (
    <>
      <ul class="flex flex-col pb-1">
        <For each={files()}>{(file) => <FileLine file={file} />}</For>
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

function FileLine(props: { file: CodeTaskFile }): JSX.Element {
  return (
    <li class="flex items-center gap-2.5 border-t border-line px-4 py-1.5 first:border-t-0 max-md:min-h-10">
      <span class="flex min-w-0 flex-1 flex-wrap items-center gap-2">
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
      </span>
      <LineCounts additions={props.file.additions} deletions={props.file.deletions} />
    </li>
  )
}
