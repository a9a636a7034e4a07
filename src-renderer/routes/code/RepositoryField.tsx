import FolderPlus from 'lucide-solid/icons/folder-plus'
import { createSignal, type JSX, Show } from 'solid-js'
import type { CodeRepository } from '../../../src-runner/contract/code-tasks.ts'
import type { Loaded } from '../../api/observe.ts'
import { problemOf } from '../../api/problem.ts'
import { baseName } from '../../features/coding/CodeResultPill.tsx'
import { TypedFolder } from '../../features/files/TypedFolder.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Select } from '../../ui/Select.tsx'

/** Choice of one of the agent's repositories, or of a folder that the agent does not have yet. */
export function RepositoryField(props: {
  agentName: string
  answer: Loaded<{ repositories: CodeRepository[] }>
  value: string | null
  onValue: (folder: string) => void
  problem: string | null
}): JSX.Element {
  const desktop = useDesktop()
  const [isTyping, setTyping] = createSignal(false)
  const repositories = () => props.answer.data?.repositories ?? []
  const chosen = () => repositories().find(({ folder }) => folder === props.value)
  /** Chosen here, and not one of the agent's folders. */
  const isOther = () => props.value !== null && props.answer.data !== undefined && chosen() === undefined
  const options = () => [
    ...repositories().map(({ folder, branch }) => ({
      value: folder,
      label: visibleText(baseName(folder)),
      note: `${visibleText(folder)} · ${branch === null ? t('code.form.detached') : t('code.form.onBranch', { branch: visibleText(branch) })}`,
    })),
    ...(isOther() ? [{ value: props.value!, label: visibleText(baseName(props.value!)), note: visibleText(props.value!) }] : []),
  ]
  const take = (folder: string) => {
    setTyping(false)
    props.onValue(folder)
    return null
  }
  const pick = async () => {
    if (!desktop.inApp) return setTyping(true)
    const path = await desktop.pickFolder()
    if (path !== null) take(path)
  }
  return (
    <div class="flex flex-col gap-1.5">
      <Show when={props.answer.error}>
        <ErrorState compact problem={problemOf(props.answer.error)} onRetry={props.answer.retry} />
      </Show>
      <div class="flex items-end gap-2 max-sm:flex-col max-sm:items-stretch">
        <Select
          class="flex-1"
          label={t('code.form.repository')}
          placeholder={t('code.form.chooseRepository')}
          options={options()}
          disabled={options().length === 0}
          value={props.value}
          onValue={take}
        />
        <Button icon={FolderPlus} onClick={() => void pick()}>
          {t('code.form.other')}
        </Button>
      </div>
      <Show when={props.problem}>
        <p role="alert" data-invalid="" tabIndex={-1} class="text-xs text-bad">
          {props.problem}
        </p>
      </Show>
      <Show when={isTyping()}>
        <TypedFolder isFirst onFolder={take} />
      </Show>
      <Show when={props.answer.data !== undefined && repositories().length === 0 && !isOther()}>
        <p class="text-xs text-ink-3">{t('code.form.noRepository', { agent: props.agentName })}</p>
      </Show>
      <Show when={chosen()}>
        {(repository) => (
          <p class="font-mono text-2xs wrap-anywhere text-ink-3">
            {visibleText(repository().folder)}
            <Show when={repository().branch}>{(branch) => <> · {visibleText(branch())}</>}</Show>
          </p>
        )}
      </Show>
      <Show when={chosen()?.dirty}>
        <p class="text-xs text-warn">{t('code.form.dirty')}</p>
      </Show>
      <Show when={isOther()}>
        <p class="rounded-lg bg-warn-soft px-3 py-2 text-sm wrap-anywhere text-warn">
          {t('code.form.opens', { agent: props.agentName, folder: visibleText(props.value!) })}
        </p>
      </Show>
    </div>
  )
}
