import Folder from 'lucide-solid/icons/folder'
import FolderPlus from 'lucide-solid/icons/folder-plus'
import X from 'lucide-solid/icons/x'
import { createSignal, For, type JSX, Show } from 'solid-js'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { TypedFolder } from './TypedFolder.tsx'

/** A list of folders: chosen in the system's dialog in the app, typed in a browser. */
export function FoldersField(props: {
  /** What it means that there are none. */
  none: string
  hint: string
  value: readonly string[]
  onValue: (value: string[]) => void
  problem: string | null
  problemAt: number | null
}): JSX.Element {
  const desktop = useDesktop()
  const [own, setOwn] = createSignal<string | null>(null)
  /** Returns why it is not added, or null. */
  const add = (path: string): string | null => {
    if (props.value.includes(path)) return t('agents.problems.folderTwice')
    props.onValue([...props.value, path])
    return null
  }
  const pick = async () => {
    const path = await desktop.pickFolder()
    if (path !== null) setOwn(add(path))
  }
  return (
    <div class="flex flex-col gap-3">
      <p class="text-xs text-ink-3">{props.value.length === 0 ? props.none : props.hint}</p>
      <Show when={props.value.length > 0}>
        <ul class="flex flex-col overflow-hidden rounded-lg border border-line">
          <For each={props.value}>
            {(path, at) => (
              <li class="border-b border-line px-3 py-1.5 last:border-b-0">
                <div class="flex items-center gap-2">
                  <span class="text-ink-3">
                    <Folder size={15} aria-hidden="true" />
                  </span>
                  <span class="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{path}</span>
                  <IconButton
                    size="sm"
                    icon={X}
                    label={t('agents.removeFolder', { path })}
                    onClick={() => props.onValue(props.value.filter((_, n) => n !== at()))}
                  />
                </div>
                <Show when={props.problem !== null && props.problemAt === at()}>
                  <p role="alert" class="mt-0.5 text-xs text-bad">
                    {props.problem}
                  </p>
                </Show>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={props.problem !== null && (props.problemAt === null || props.problemAt >= props.value.length)}>
        <p role="alert" class="text-xs text-bad">
          {props.problem}
        </p>
      </Show>
      <Show when={desktop.inApp} fallback={<TypedFolder onFolder={add} />}>
        <div class="flex flex-col gap-1">
          <Button icon={FolderPlus} class="self-start" onClick={() => void pick()}>
            {t('agents.addFolder')}
          </Button>
          <Show when={own()}>
            <p role="alert" class="text-xs text-bad">
              {own()}
            </p>
          </Show>
        </div>
      </Show>
    </div>
  )
}
