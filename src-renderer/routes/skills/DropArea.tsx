import { createSignal, type JSX, onCleanup, onMount, Show } from 'solid-js'
import { t } from '../../lib/language.ts'

/** Takes a file that is dropped anywhere on the window. */
export function DropArea(props: { onFile: (file: File) => void }): JSX.Element {
  const [isOver, setOver] = createSignal(false)
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
    const file = event.dataTransfer!.files[0]
    if (file !== undefined) props.onFile(file)
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
    <Show when={isOver()}>
      <div class="pointer-events-none fixed inset-3 z-30 flex items-center justify-center rounded-2xl border-2 border-dashed border-accent bg-accent-soft text-lg font-semibold text-accent-ink">
        {t('skills.drop')}
      </div>
    </Show>
  )
}
