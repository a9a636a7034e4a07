import FolderPlus from 'lucide-solid/icons/folder-plus'
import { createSignal, type JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** Absolute on any system: `/home/me`, `C:\\Users\\me`, `\\\\server\\share`. */
const ABSOLUTE = /^(?:\/|[a-z]:[\\/]|\\\\)/i

/** The path of a folder, where a browser cannot open the dialog of the system. */
export function TypedFolder(props: {
  isFirst?: boolean
  /** Returns why it is not taken, or null. */
  onFolder: (path: string) => string | null
}): JSX.Element {
  const [typed, setTyped] = createSignal('')
  const [problem, setProblem] = createSignal<string | null>(null)
  const take = () => {
    const path = typed().trim()
    if (path === '') return
    const why = ABSOLUTE.test(path) ? props.onFolder(path) : t('agents.problems.folderAbsolute')
    setProblem(why)
    if (why === null) setTyped('')
  }
  return (
    <div class="flex items-start gap-2">
      <TextField
        mono
        isFirst={props.isFirst}
        class="flex-1"
        label={t('agents.folderPath')}
        hideLabel
        placeholder={t('agents.folderPlaceholder')}
        hint={t('agents.folderTyped')}
        problem={problem()}
        value={typed()}
        onValue={(text) => {
          setTyped(text)
          setProblem(null)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          take()
        }}
      />
      <Button icon={FolderPlus} disabled={typed().trim() === ''} onClick={take}>
        {t('common.add')}
      </Button>
    </div>
  )
}
