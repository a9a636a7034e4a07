import BookOpen from 'lucide-solid/icons/book-open'
import Brain from 'lucide-solid/icons/brain'
import CircleSlash from 'lucide-solid/icons/circle-slash'
import CircleHelp from 'lucide-solid/icons/circle-question-mark'
import CodeXml from 'lucide-solid/icons/code-xml'
import FilePen from 'lucide-solid/icons/file-pen'
import FileSymlink from 'lucide-solid/icons/file-symlink'
import FileText from 'lucide-solid/icons/file-text'
import FileX from 'lucide-solid/icons/file-x'
import FolderOpen from 'lucide-solid/icons/folder-open'
import Globe from 'lucide-solid/icons/globe'
import LoaderCircle from 'lucide-solid/icons/loader-circle'
import Moon from 'lucide-solid/icons/moon'
import PackageCheck from 'lucide-solid/icons/package-check'
import Plug from 'lucide-solid/icons/plug'
import Search from 'lucide-solid/icons/search'
import SquareTerminal from 'lucide-solid/icons/square-terminal'
import StickyNote from 'lucide-solid/icons/sticky-note'
import TriangleAlert from 'lucide-solid/icons/triangle-alert'
import Users from 'lucide-solid/icons/users'
import Wrench from 'lucide-solid/icons/wrench'
import { createSignal, createUniqueId, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Duration } from '../../ui/Duration.tsx'
import { FoldIcon } from '../../ui/Fold.tsx'
import type { Icon } from '../../ui/icon.ts'
import { CallDiffs, diffsOfCall } from '../files/CallDiffs.tsx'
import { RawText, rawTextOf } from './RawText.tsx'
import { toolFact, type ToolKind, toolKind, toolSentence } from './tool-sentence.ts'
import type { ToolItem } from './turn.ts'

const ICONS: Record<ToolKind, Icon> = {
  read: FileText,
  write: FilePen,
  edit: FilePen,
  move: FileSymlink,
  delete: FileX,
  list: FolderOpen,
  search: Search,
  run: SquareTerminal,
  fetch: Globe,
  request: Plug,
  webSearch: Search,
  remember: Brain,
  recall: Brain,
  keepState: StickyNote,
  nothingNew: Moon,
  forget: Brain,
  delegate: Users,
  ask: CircleHelp,
  result: PackageCheck,
  skill: BookOpen,
  code: CodeXml,
  start: CodeXml,
  program: Wrench,
  other: Wrench,
}
const STATE_TONES: Record<ToolItem['state'], string> = {
  asked: 'text-ink-3',
  running: 'text-accent-ink',
  done: 'text-ink-3',
  failed: 'text-bad',
  denied: 'text-ink-3',
  lost: 'text-warn',
}

const LINES_SHOWN = 12

/** The last lines of a running program's output. Afterwards, the result holds all of it. */
function RunningOutput(props: { text: string }) {
  const lastLines = () => visibleText(props.text.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n'))
  return (
    <pre
      role="log"
      aria-label={t('turn.output')}
      class="mt-1 mb-2 ml-1.5 overflow-hidden border-l-2 border-line pl-4 font-mono text-xs break-all whitespace-pre-wrap text-ink-3"
    >
      {lastLines()}
    </pre>
  )
}

/** Shorter durations are not shown. */
const SHORTEST_SHOWN_MS = 100

/** A tool call as one line of text. Unfolded, it shows the exact arguments and the output. */
export function ToolLine(props: { item: ToolItem; /** The job has ended, so a waiting call does not run any more. */ isOver: boolean }) {
  const [open, setOpen] = createSignal(false)
  const detailsId = createUniqueId()
  const stateWord = () => t(`turn.toolState.${props.isOver && props.item.state === 'asked' ? 'skipped' : props.item.state}`)
  const icon = (): Icon => {
    if (props.item.state === 'running') return LoaderCircle
    if (props.item.state === 'denied') return CircleSlash
    return props.item.state === 'failed' || props.item.state === 'lost' ? TriangleAlert : ICONS[toolKind(props.item.name)]
  }
  return (
    <div class="min-w-0">
      <button
        type="button"
        aria-expanded={open()}
        aria-controls={open() ? detailsId : undefined}
        class="group -mx-1.5 flex w-[calc(100%+0.75rem)] items-center gap-2 rounded-md px-1.5 py-1 text-left text-sm text-ink-2 hover:bg-hover hover:text-ink"
        onClick={() => setOpen(!open())}
      >
        <span class={`shrink-0 ${STATE_TONES[props.item.state]}`}>
          <Dynamic component={icon()} size={15} class={props.item.state === 'running' ? 'animate-spin' : ''} aria-hidden="true" />
        </span>
        <span class="line-clamp-2 min-w-0 wrap-anywhere">{visibleText(toolSentence(props.item))}</span>
        <Show when={toolFact(props.item)}>{(fact) => <span class="shrink-0 text-xs text-ink-3">· {fact()}</span>}</Show>
        <Show when={props.item.state !== 'done'}>
          <span class={`shrink-0 text-xs ${STATE_TONES[props.item.state]}`}>· {stateWord()}</span>
        </Show>
        <span class="ml-auto flex shrink-0 items-center gap-1.5 text-xs text-ink-3">
          <Show when={(props.item.result?.durationMs ?? 0) >= SHORTEST_SHOWN_MS}>
            <Duration ms={props.item.result!.durationMs} />
          </Show>
          <FoldIcon open={open()} />
        </span>
      </button>
      <Show when={props.item.state === 'running' && props.item.output !== ''}>
        <RunningOutput text={props.item.output} />
      </Show>
      <Show when={open()}>
        <div id={detailsId} class="mt-1 mb-2 ml-1.5 flex flex-col gap-2 border-l-2 border-line pl-4">
          <span class="font-mono text-xs text-ink-3">{visibleText(props.item.name)}</span>
          <Show
            when={diffsOfCall(props.item)}
            fallback={
              <Show when={props.item.args !== undefined}>
                <RawText label={t('turn.arguments')} text={rawTextOf(props.item.args)} />
              </Show>
            }
          >
            {(diffs) => <CallDiffs diffs={diffs()} />}
          </Show>
          <Show when={props.item.result}>
            {(result) => (
              <Show when={result().output !== ''} fallback={<span class="text-xs text-ink-3">{t('turn.noOutput')}</span>}>
                <RawText label={t('turn.output')} text={result().output} />
              </Show>
            )}
          </Show>
        </div>
      </Show>
    </div>
  )
}
