import FolderOpen from 'lucide-solid/icons/folder-open'
import { type JSX, Show } from 'solid-js'
import type { CodeTask } from '../../../../src-runner/contract/code-tasks.ts'
import { t } from '../../../lib/language.ts'
import { useDesktop } from '../../../platform/DesktopProvider.tsx'
import { Button } from '../../../ui/Button.tsx'
import { toast } from '../../../ui/Toasts.tsx'

/** What a person can do with the changes. */
export function CodeActions(props: { task: CodeTask }): JSX.Element {
  const desktop = useDesktop()
  const open = async () => {
    if ((await desktop.api?.showCodeFolder({ jobId: props.task.jobId })) === false) toast({ text: t('code.task.openGone'), tone: 'bad' })
  }
  return (
    <Show when={props.task.folder !== null && desktop.api !== null}>
      <div class="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
        <Button icon={FolderOpen} onClick={() => void open()}>
          {t('code.task.open')}
        </Button>
      </div>
    </Show>
  )
}
