import { createSignal, type JSX, onCleanup, onMount, Show } from 'solid-js'
import { NO_SKILL_FILES, SKILL_LIMITS } from '../../../src-runner/contract/skills.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { FolderTooLarge, zipFolder } from '../../lib/dropped-folder.ts'
import { locale, t } from '../../lib/language.ts'
import { toast } from '../../ui/Toasts.tsx'

/** Takes a file that is dropped anywhere on the window, or a folder, as an archive of it. */
export function DropArea(props: { onFile: (file: File) => void }): JSX.Element {
  const [isOver, setOver] = createSignal(false)
  const [isReading, setReading] = createSignal(false)
  /** What is dropped later takes the place of a folder that is still read. */
  let lastDrop = 0
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
  const onDragOver = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    setOver(true)
  }
  const onDragLeave = (event: DragEvent) => {
    // Only when it leaves the window, not one of its parts.
    if (event.relatedTarget === null) setOver(false)
  }
  const onDrop = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    setOver(false)
    const { files, items } = event.dataTransfer!
    // Both are empty once this has returned.
    const entry = items?.[0]?.webkitGetAsEntry() ?? null
    if (entry?.isDirectory === true) void takeFolder(entry as FileSystemDirectoryEntry)
    else if (files[0] !== undefined) {
      lastDrop++
      setReading(false)
      props.onFile(files[0])
    }
  }
  const takeFolder = async (folder: FileSystemDirectoryEntry) => {
    const own = ++lastDrop
    setReading(true)
    try {
      const file = await zipFolder(folder, { ...SKILL_LIMITS, leftOut: NO_SKILL_FILES })
      if (own === lastDrop) props.onFile(file)
    } catch (thrown) {
      if (own !== lastDrop) return
      const most = { size: bytesText(SKILL_LIMITS.bytes, locale()), count: SKILL_LIMITS.files }
      const text = thrown instanceof FolderTooLarge ? t('skills.folderTooLarge', most) : t('skills.folderUnreadable')
      toast({ tone: 'bad', text })
    } finally {
      if (own === lastDrop) setReading(false)
    }
  }
  onMount(() => {
    document.addEventListener('dragover', onDragOver)
    document.addEventListener('dragleave', onDragLeave)
    document.addEventListener('drop', onDrop)
  })
  onCleanup(() => {
    document.removeEventListener('dragover', onDragOver)
    document.removeEventListener('dragleave', onDragLeave)
    document.removeEventListener('drop', onDrop)
  })
  return (
    <Show when={isOver() || isReading()}>
      <div class="pointer-events-none fixed inset-3 z-30 flex items-center justify-center rounded-2xl border-2 border-dashed border-accent bg-accent-soft text-lg font-semibold text-accent-ink">
        {t(isReading() ? 'skills.install.reading' : 'skills.drop')}
      </div>
    </Show>
  )
}
