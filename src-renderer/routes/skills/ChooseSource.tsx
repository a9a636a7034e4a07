import FileArchive from 'lucide-solid/icons/file-archive'
import FolderOpen from 'lucide-solid/icons/folder-open'
import { type JSX, Show } from 'solid-js'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { FileInput } from './FileInput.tsx'

/** An address, a folder or a file. */
export function ChooseSource(props: {
  source: string
  onSource: (source: string) => void
  isReading: boolean
  problem: string | null
  error: unknown
  onLook: (source: string) => void
  onFile: (file: File) => void
  onClose: () => void
}): JSX.Element {
  const desktop = useDesktop()
  const look = (source: string) => {
    if (source.trim() !== '') props.onLook(source.trim())
  }
  const pick = async () => {
    const path = await desktop.pickFolder()
    if (path === null) return
    props.onSource(path)
    look(path)
  }
  return (
    <FormDialog
      title={t('skills.install.title')}
      description={t('skills.install.about')}
      submit={t('skills.install.preview')}
      onSubmit={() => look(props.source)}
      isRunning={props.isReading}
      onClose={props.onClose}
    >
      <TextField
        label={t('skills.install.source')}
        mono
        isFirst
        placeholder="https://github.com/anthropics/skills/tree/main/skills/pdf"
        hint={t('skills.install.sourceHint')}
        problem={props.problem}
        value={props.source}
        onValue={props.onSource}
      />
      <div class="flex flex-wrap gap-2">
        <Show when={desktop.inApp}>
          <Button icon={FolderOpen} disabled={props.isReading} onClick={() => void pick()}>
            {t('skills.install.pickFolder')}
          </Button>
        </Show>
        <FileInput onFile={props.onFile}>
          {(choose) => (
            <Button icon={FileArchive} disabled={props.isReading} onClick={choose}>
              {t('skills.install.pickFile')}
            </Button>
          )}
        </FileInput>
      </div>
      <FormProblem error={props.error} />
      <Show when={props.isReading}>
        <p role="status" class="text-xs text-ink-3">
          {t('skills.install.reading')}
        </p>
      </Show>
    </FormDialog>
  )
}
