import { For, type JSX, Show } from 'solid-js'
import { CODE_TASK_LIMITS, type CodeTask, type CodeTaskCommand, type CodeTaskLeftOut } from '../../../../src-runner/contract/code-tasks.ts'
import { CODING_PROGRAM_NAMES } from '../../../../src-runner/contract/coding-programs.ts'
import { isTerminal } from '../../../../src-runner/contract/jobs.ts'
import { bytesText } from '../../../../resources/locales/numbers.ts'
import { CodeResultPill } from '../../../features/coding/CodeResultPill.tsx'
import { LineCounts } from '../../../features/coding/LineCounts.tsx'
import { locale, t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { useDesktop } from '../../../platform/DesktopProvider.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Fold } from '../../../ui/Fold.tsx'
import { Money } from '../../../ui/Money.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Time } from '../../../ui/Time.tsx'
import { CodeActions } from './CodeActions.tsx'
import { CodeFiles } from './CodeFiles.tsx'

/** What a coding program left: its branch, files and commands, and what the person can do with them. */
export function CodePanel(props: { task: CodeTask }): JSX.Element {
  return (
    <Panel
      title={t('code.task.title')}
      description={t(`code.task.state.${standingOf(props.task)}`)}
      actions={<CodeResultPill task={props.task} />}
      flush
    >
      <Facts task={props.task} />
      <CodeActions task={props.task} />
      <Show when={props.task.files.length > 0}>
        <section aria-label={t('code.task.files')} class="border-t border-line">
          <p class="flex items-center gap-3 px-4 pt-2.5 pb-1 text-xs text-ink-3">
            {t('code.task.summary', { count: props.task.fileCount })}
            <LineCounts additions={props.task.additions} deletions={props.task.deletions} />
          </p>
          <CodeFiles task={props.task} />
        </section>
      </Show>
      <Show when={props.task.leftOut.length > 0 && props.task.result !== 'discarded'}>
        <LeftOut leftOut={props.task.leftOut} isGone={props.task.folder === null} />
      </Show>
      <Show when={props.task.commands.length > 0}>
        <Commands commands={props.task.commands} />
      </Show>
    </Panel>
  )
}

type Standing = 'working' | 'waiting' | 'nothing' | 'stopped' | 'ready' | 'applied' | 'discarded'

function standingOf({ jobStatus, result }: CodeTask): Standing {
  if (!isTerminal(jobStatus)) return jobStatus === 'awaiting_approval' ? 'waiting' : 'working'
  if (result === 'none') return 'nothing'
  return result === 'ready' && jobStatus !== 'completed' ? 'stopped' : result
}

function Facts(props: { task: CodeTask }): JSX.Element {
  const program = () => CODING_PROGRAM_NAMES[props.task.cli]
  const base = () => props.task.baseBranch ?? props.task.baseCommit.slice(0, 8)
  const isOver = () => isTerminal(props.task.jobStatus)
  return (
    <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 px-4 pt-1 pb-3 text-sm max-sm:grid-cols-1 max-sm:gap-y-0 max-sm:[&>dd]:mb-2">
      <Fact name={t('code.task.program')}>
        {program()}
        <span class="text-ink-3">
          {' · '}
          {t(props.task.sandboxed ? 'code.task.sandboxed' : 'code.task.unsandboxed')}
          {', '}
          {t(props.task.internet ? 'code.task.internet' : 'code.task.noInternet')}
        </span>
      </Fact>
      <Fact name={t('code.task.repository')}>
        <Path>{props.task.repository}</Path>
      </Fact>
      <Show when={props.task.result !== 'discarded'}>
        <Fact name={t('code.task.branch')}>
          <Copied label={t('code.task.copyBranch')}>{props.task.branch}</Copied>
          <span class="text-xs text-ink-3">{t('code.task.from', { base: visibleText(base()) })}</span>
        </Fact>
        <Fact name={t('code.task.folder')}>
          <Show
            when={props.task.folder}
            fallback={
              <span class="text-ink-3">
                <Show when={props.task.folderRemovedAt} fallback={t('code.task.noFolder')}>
                  {(at) => <FolderGone at={at()} />}
                </Show>
              </span>
            }
          >
            {(folder) => (
              <>
                <Copied label={t('code.task.copyFolder')}>{folder()}</Copied>
                <Show when={props.task.sizeBytes}>{(bytes) => <span class="text-xs text-ink-3">{bytesText(bytes(), locale())}</span>}</Show>
              </>
            )}
          </Show>
        </Fact>
      </Show>
      <Show when={isOver()}>
        <Fact name={t('code.task.cost')}>
          <Show
            when={props.task.priced || props.task.costUsd > 0}
            fallback={<span class="text-ink-3">{t('code.task.costUnknown', { program: program() })}</span>}
          >
            <span title={t('code.task.costWhy', { program: program() })}>
              <Money usd={props.task.costUsd} priced={props.task.priced} />
            </span>
          </Show>
        </Fact>
      </Show>
    </dl>
  )
}

function FolderGone(props: { at: number }): JSX.Element {
  return (
    <>
      {t('code.task.folderGone')} (<Time at={props.at} />)
    </>
  )
}

function Fact(props: { name: string; children: JSX.Element }): JSX.Element {
  return (
    <>
      <dt class="text-ink-3">{props.name}</dt>
      <dd class="flex min-w-0 flex-wrap items-center gap-x-1.5 text-ink">{props.children}</dd>
    </>
  )
}

/** With the button that copies it, on one line. */
function Copied(props: { label: string; children: string }): JSX.Element {
  const { copyText } = useDesktop()
  return (
    <span class="inline-flex min-w-0 items-center gap-x-1.5 max-sm:w-full max-sm:justify-between">
      <Path>{props.children}</Path>
      <CopyButton size="sm" text={props.children} copy={copyText} label={props.label} />
    </span>
  )
}

function Path(props: { children: string }): JSX.Element {
  return <span class="min-w-0 font-mono text-xs wrap-anywhere">{visibleText(props.children)}</span>
}

/** More are folded away. */
const LEFT_OUT_SHOWN = 5

/** What is in the folder and not on the branch, so that it is not lost with the folder unseen. */
function LeftOut(props: { leftOut: readonly CodeTaskLeftOut[]; isGone: boolean }): JSX.Element {
  const more = () => props.leftOut.slice(LEFT_OUT_SHOWN)
  return (
    <section aria-label={t('code.task.leftOut')} class="border-t border-line bg-warn-soft px-4 pt-2.5 pb-3 text-warn">
      <p class="text-sm font-medium">{t('code.task.leftOut')}</p>
      <p class="pb-1 text-sm">{props.isGone ? t('code.task.leftOutGone') : t('code.task.leftOutFix')}</p>
      <LeftOutList leftOut={props.leftOut.slice(0, LEFT_OUT_SHOWN)} />
      <Show when={more().length > 0}>
        <Fold label={t('code.task.leftOutMore', { count: more().length })}>
          <LeftOutList leftOut={more()} />
        </Fold>
      </Show>
      <Show when={props.leftOut.length >= CODE_TASK_LIMITS.leftOut}>
        <p class="pt-1 text-xs">{t('code.task.leftOutCut')}</p>
      </Show>
    </section>
  )
}

function LeftOutList(props: { leftOut: readonly CodeTaskLeftOut[] }): JSX.Element {
  return (
    <ul class="flex flex-col">
      <For each={props.leftOut}>
        {({ path, reason }) => (
          <li class="flex flex-wrap items-baseline gap-x-3 py-0.5">
            <span class="min-w-0 font-mono text-xs wrap-anywhere">{visibleText(path)}</span>
            <span class="text-xs">{t('messages.code_left_out', { why: reason })}</span>
          </li>
        )}
      </For>
    </ul>
  )
}

/** More are folded away. */
const COMMANDS_SHOWN = 8

function Commands(props: { commands: readonly CodeTaskCommand[] }): JSX.Element {
  const last = () => props.commands.slice(-COMMANDS_SHOWN)
  const earlier = () => props.commands.slice(0, -COMMANDS_SHOWN)
  return (
    <section aria-label={t('code.task.commands')} class="border-t border-line px-4 pt-2.5 pb-3">
      <p class="pb-1 text-xs text-ink-3">{t('code.task.commands')}</p>
      <Show when={earlier().length > 0}>
        <Fold label={t('code.task.earlier', { count: earlier().length })}>
          <CommandList commands={earlier()} />
        </Fold>
      </Show>
      <CommandList commands={last()} />
    </section>
  )
}

function CommandList(props: { commands: readonly CodeTaskCommand[] }): JSX.Element {
  return (
    <ol class="flex flex-col">
      <For each={props.commands}>
        {({ command, exitCode }) => (
          <li class="flex items-start gap-3 py-1">
            <code class="min-w-0 flex-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink">{visibleText(command)}</code>
            <Pill tone={exitCode === null ? 'plain' : exitCode === 0 ? 'ok' : 'bad'}>
              {exitCode === null ? t('code.task.exitUnknown') : t('code.task.exit', { code: exitCode })}
            </Pill>
          </li>
        )}
      </For>
    </ol>
  )
}
