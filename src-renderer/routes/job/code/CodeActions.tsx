import FolderOpen from 'lucide-solid/icons/folder-open'
import FolderX from 'lucide-solid/icons/folder-x'
import GitMerge from 'lucide-solid/icons/git-merge'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { CodeTask } from '../../../../src-runner/contract/code-tasks.ts'
import { isTerminal } from '../../../../src-runner/contract/jobs.ts'
import { bytesText } from '../../../../resources/locales/numbers.ts'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { ApiError } from '../../../api/client.ts'
import { issueText, problemOf, sentenceOf } from '../../../api/problem.ts'
import { baseName } from '../../../features/coding/CodeResultPill.tsx'
import { locale, t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { useDesktop } from '../../../platform/DesktopProvider.tsx'
import { Button } from '../../../ui/Button.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { toast } from '../../../ui/Toasts.tsx'

type Asked = 'apply' | 'discard' | 'remove' | null
/** More would make the dialog longer than the window. */
const FILES_NAMED = 5

/** What a person can do with the changes: look at the folder, apply, discard, or only remove the folder. */
export function CodeActions(props: { task: CodeTask }): JSX.Element {
  const desktop = useDesktop()
  const may = useMay()
  const decides = () => may('applyCodeTask')
  const [asked, setAsked] = createSignal<Asked>(null)
  const close = () => setAsked(null)
  const isOver = () => isTerminal(props.task.jobStatus)
  const hasChanges = () => isOver() && (props.task.result === 'ready' || props.task.result === 'applied')
  const canDiscard = () => decides() && isOver() && props.task.result !== 'discarded'
  const canOpen = () => props.task.folder !== null && desktop.api !== null
  const canRemove = () => decides() && hasChanges() && props.task.folder !== null
  const open = async () => {
    if ((await desktop.api?.showCodeFolder({ jobId: props.task.jobId })) === false) toast({ text: t('code.task.openGone'), tone: 'bad' })
  }
  return (
    <>
      <Show when={!decides() && isOver() && props.task.result === 'ready'}>
        <p class="border-t border-line px-4 py-3 text-sm text-ink-2">{t('code.task.ownersDecide')}</p>
      </Show>
      <Show when={canDiscard() || canOpen()}>
        <div class="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3 max-sm:*:grow">
          <Show when={decides() && isOver() && props.task.result === 'ready'}>
            <Button variant="primary" icon={GitMerge} onClick={() => setAsked('apply')}>
              {t('code.task.apply')}
            </Button>
          </Show>
          <Show when={canOpen()}>
            <Button icon={FolderOpen} onClick={() => void open()}>
              {t('code.task.open')}
            </Button>
          </Show>
          <Show when={canRemove()}>
            <Button icon={FolderX} onClick={() => setAsked('remove')}>
              {t('code.task.remove')}
            </Button>
          </Show>
          <Show when={canDiscard()}>
            <Button variant="danger" icon={Trash} onClick={() => setAsked('discard')}>
              {t('code.task.discard')}
            </Button>
          </Show>
        </div>
        <ApplyDialog task={props.task} open={asked() === 'apply'} onClose={close} />
        <DiscardDialog task={props.task} open={asked() === 'discard'} onClose={close} />
        <RemoveDialog task={props.task} open={asked() === 'remove'} onClose={close} />
      </Show>
    </>
  )
}

/** Why it was refused: the files that are the reason, and what to do. */
function misfitsOf(thrown: unknown, texts: { head: string; fix: string | null }): JSX.Element {
  if (!(thrown instanceof ApiError) || thrown.issues.length === 0) return sentenceOf(thrown)
  return (
    <>
      <p>{texts.head}</p>
      <ul class="my-1.5 flex flex-col gap-0.5">
        <For each={thrown.issues.slice(0, FILES_NAMED)}>
          {(issue) => (
            <li>
              <span class="font-mono text-xs">{visibleText(issue.path)}</span>
              <span class="text-xs"> · {issueText(issue)}</span>
            </li>
          )}
        </For>
        <Show when={thrown.issues.length > FILES_NAMED}>
          <li aria-hidden="true">…</li>
        </Show>
      </ul>
      <Show when={texts.fix}>{(fix) => <p>{fix()}</p>}</Show>
    </>
  )
}

type DialogProps = { task: CodeTask; open: boolean; onClose: () => void }

/** If the changes do not fit, the dialog says why and stays open. */
function ApplyDialog(props: DialogProps): JSX.Element {
  const apply = useAction('applyCodeTask')
  const running = () => props.task.files.filter(({ runsByItself }) => runsByItself)
  const run = async () => {
    await apply.run({ params: { jobId: props.task.jobId } })
    toast({ text: t('code.task.appliedToast', { count: props.task.fileCount }) })
  }
  return (
    <ConfirmDialog
      open={props.open}
      onClose={props.onClose}
      title={t('code.task.applyTitle', { repository: visibleText(baseName(props.task.repository)) })}
      confirm={t('code.task.applyNow')}
      onConfirm={run}
      describeError={(thrown) =>
        misfitsOf(thrown, { head: t('code.task.misfits'), fix: t('code.task.misfitsFix', { branch: visibleText(props.task.branch) }) })
      }
    >
      <p class="wrap-anywhere">{t('code.task.applyText', { count: props.task.fileCount, folder: visibleText(props.task.repository) })}</p>
      <Show when={running().length > 0}>
        <div class="mt-3 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <p>{t('code.task.applyRuns', { count: running().length })}</p>
          <ul class="mt-1 font-mono text-xs wrap-anywhere">
            <For each={running().slice(0, FILES_NAMED)}>{({ path }) => <li>{visibleText(path)}</li>}</For>
            <Show when={running().length > FILES_NAMED}>
              <li aria-hidden="true">…</li>
            </Show>
          </ul>
        </div>
      </Show>
    </ConfirmDialog>
  )
}

function DiscardDialog(props: DialogProps): JSX.Element {
  const discard = useAction('discardCodeTask')
  const run = async () => {
    await discard.run({ params: { jobId: props.task.jobId } })
    toast({ text: t('code.task.discardedToast') })
  }
  return (
    <ConfirmDialog
      open={props.open}
      onClose={props.onClose}
      title={t('code.task.discardTitle', { title: props.task.title })}
      confirm={t('code.task.discardNow')}
      tone="bad"
      onConfirm={run}
      describeError={sentenceOf}
    >
      <p class="wrap-anywhere">{t('code.task.discardText', { branch: visibleText(props.task.branch), count: props.task.fileCount })}</p>
      <p class="mt-2">{t(props.task.result === 'applied' ? 'code.task.discardApplied' : 'code.task.discardKept')}</p>
    </ConfirmDialog>
  )
}

function RemoveDialog(props: DialogProps): JSX.Element {
  const remove = useAction('removeCodeTaskFolder')
  const run = async () => {
    await remove.run({ params: { jobId: props.task.jobId } })
    toast({ text: t('code.task.removedToast') })
  }
  return (
    <ConfirmDialog
      open={props.open}
      onClose={props.onClose}
      title={t('code.task.removeTitle')}
      confirm={t('code.task.removeNow')}
      onConfirm={run}
      describeError={(thrown) => misfitsOf(thrown, { head: problemOf(thrown).why, fix: null })}
    >
      <p class="wrap-anywhere">{t('code.task.removeText', { branch: visibleText(props.task.branch) })}</p>
      <Show when={props.task.sizeBytes}>
        {(bytes) => <p class="mt-2">{t('code.task.removeFrees', { size: bytesText(bytes(), locale()) })}</p>}
      </Show>
    </ConfirmDialog>
  )
}
