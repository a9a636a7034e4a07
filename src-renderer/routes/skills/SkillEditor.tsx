import FilePlus from 'lucide-solid/icons/file-plus'
import PenLine from 'lucide-solid/icons/pen-line'
import Trash from 'lucide-solid/icons/trash'
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js'
import { createStore, unwrap } from 'solid-js/store'
import type { SkillEditFile, SkillFileInput } from '../../../src-runner/contract/skills.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useSkillCheck } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { UnsavedGuard } from '../../ui/UnsavedGuard.tsx'
import { permissionText } from './skill.ts'
import { Verdict } from './Verdict.tsx'

export const SKILL_FILE = 'SKILL.md'

/** `from`: its path before it was renamed. Its content stays there until the skill is saved, if it is not text. */
type OpenFile = SkillEditFile & { from?: string }

/** The files of an own skill, checked while the person writes. */
export function SkillEditor(props: {
  files: readonly SkillEditFile[]
  /** The skill that is edited: its files that are not text stay as they are. */
  skillId?: string
  isNew?: boolean
  isBusy: boolean
  error: unknown
  warning: string | undefined
  /** Returns what to do when nothing is unsaved any more. */
  onSave: (files: SkillFileInput[]) => Promise<() => void>
  onCancel: () => void
}): JSX.Element {
  const [files, setFiles] = createStore<OpenFile[]>(props.files.map((file) => ({ ...file })))
  const [openPath, setOpenPath] = createSignal(files.find(({ path }) => path === SKILL_FILE)?.path ?? files[0]?.path ?? '')
  const [isSaved, setSaved] = createSignal(false)
  const open = () => files.findIndex(({ path }) => path === openPath())
  const written = createMemo((): SkillFileInput[] =>
    files.map(({ path, text, from }) => (text !== null ? { path, text } : from === undefined ? { path } : { path, from })),
  )
  const before = JSON.stringify(unwrap(files))
  const isDirty = createMemo(() => !isSaved() && JSON.stringify(files) !== before)
  const check = useSkillCheck(() => ({ body: { files: written(), ...(props.skillId && { skillId: props.skillId }) } }))
  const problem = () => {
    if (props.error) return sentenceOf(props.error)
    return messageText(check.data?.problem) || (check.error ? sentenceOf(check.error) : '')
  }
  const save = async () => {
    try {
      const leave = await props.onSave(written())
      setSaved(true)
      leave()
    } catch {
      // Shown beside the buttons.
    }
  }
  const remove = (path: string) => {
    setFiles((all) => all.filter((file) => file.path !== path))
    setOpenPath(SKILL_FILE)
  }
  const rename = (path: string, to: string) => {
    if (files.some((file) => file.path === to)) return
    setFiles(
      (file) => file.path === path,
      (file) => ({ path: to, from: file.from ?? path }),
    )
    setOpenPath(to)
  }
  return (
    <div>
      <Show when={props.warning}>
        {(warning) => (
          <p role="alert" class="mb-4 rounded-lg bg-warn-soft px-4 py-3 text-sm text-ink">
            {warning()}
          </p>
        )}
      </Show>
      <div class="grid grid-cols-[13rem_minmax(0,1fr)] gap-4 max-md:grid-cols-1">
        <FileChoice
          files={files}
          openPath={openPath()}
          onOpen={setOpenPath}
          onRemove={remove}
          onRename={rename}
          onAdd={(path) => {
            if (files.every((file) => file.path !== path)) setFiles(files.length, { path, text: '', bytes: 0 })
            setOpenPath(path)
          }}
        />
        <Show
          when={files[open()]?.text !== null}
          fallback={
            <p class="rounded-lg border border-line bg-inset px-4 py-6 text-center text-sm text-ink-3">{t('skills.edit.notText')}</p>
          }
        >
          <TextArea
            label={visibleText(openPath())}
            mono
            rows={18}
            maxRows={32}
            spellcheck={false}
            value={files[open()]?.text ?? ''}
            onValue={(text) => setFiles(open(), 'text', text)}
          />
        </Show>
      </div>
      <Show when={check.data?.contents}>
        {(contents) => (
          <section aria-label={t('skills.edit.check')} class="mt-4 flex flex-col gap-3">
            <Verdict contents={contents()} />
            <Show when={contents().permissions.length > 0}>
              <div class="text-sm text-ink-2">
                <p>{t('skills.facts.title')}:</p>
                <ul class="list-disc pl-4">
                  <For each={contents().permissions}>{(permission) => <li class="wrap-anywhere">{permissionText(permission)}</li>}</For>
                </ul>
              </div>
            </Show>
          </section>
        )}
      </Show>
      <div class="sticky bottom-0 z-10 -mx-2 mt-4 flex flex-wrap items-center gap-3 border-t border-line bg-canvas px-2 py-3">
        <p role="status" class={`min-w-0 flex-1 text-sm wrap-anywhere max-sm:basis-full ${problem() === '' ? 'text-ink-3' : 'text-bad'}`}>
          {problem() || (isDirty() ? t('common.form.unsaved') : '')}
        </p>
        <div class="ml-auto flex gap-3">
          <Button onClick={() => props.onCancel()}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={props.isBusy}
            disabled={check.data?.contents == null || (!props.isNew && !isDirty())}
            onClick={() => void save()}
          >
            {t(props.isNew ? 'skills.edit.create' : 'common.save')}
          </Button>
        </div>
      </div>
      <UnsavedGuard isDirty={isDirty} title={t('common.form.unsavedTitle')} leave={t('common.form.discard')}>
        {t('common.form.unsavedText')}
      </UnsavedGuard>
    </div>
  )
}

function FileChoice(props: {
  files: readonly SkillEditFile[]
  openPath: string
  onOpen: (path: string) => void
  onRemove: (path: string) => void
  onRename: (path: string, to: string) => void
  onAdd: (path: string) => void
}): JSX.Element {
  const [path, setPath] = createSignal('')
  const [renamed, setRenamed] = createSignal<string | null>(null)
  const add = () => {
    const wanted = path().trim()
    if (wanted === '') return
    setPath('')
    props.onAdd(wanted)
  }
  return (
    <div class="flex flex-col gap-2">
      <ul aria-label={t('skills.facts.files')} class="flex flex-col gap-0.5">
        <For each={props.files}>
          {(file) => (
            <li class="flex items-center gap-1">
              <Show
                when={renamed() !== file.path}
                fallback={
                  <PathForm
                    label={t('skills.edit.renameFile', { path: file.path })}
                    path={file.path}
                    onPath={(to) => {
                      setRenamed(null)
                      if (to !== '' && to !== file.path) props.onRename(file.path, to)
                    }}
                  />
                }
              >
                <button
                  type="button"
                  aria-pressed={file.path === props.openPath}
                  class={`min-h-8 min-w-0 flex-1 rounded-md px-2 py-1 text-left font-mono text-xs wrap-anywhere hover:bg-hover max-md:min-h-10 ${
                    file.path === props.openPath ? 'bg-pressed font-medium text-ink' : 'text-ink-2'
                  }`}
                  onClick={() => props.onOpen(file.path)}
                >
                  {visibleText(file.path)}
                </button>
                <Show when={file.path !== SKILL_FILE}>
                  <IconButton
                    size="sm"
                    icon={PenLine}
                    label={t('skills.edit.renameFile', { path: file.path })}
                    class="max-md:size-10"
                    onClick={() => setRenamed(file.path)}
                  />
                  <IconButton
                    size="sm"
                    icon={Trash}
                    label={t('skills.edit.removeFile', { path: file.path })}
                    class="max-md:size-10"
                    onClick={() => props.onRemove(file.path)}
                  />
                </Show>
              </Show>
            </li>
          )}
        </For>
      </ul>
      <form
        class="flex items-end gap-1"
        onSubmit={(event) => {
          event.preventDefault()
          add()
        }}
      >
        <div class="min-w-0 flex-1">
          <TextField
            mono
            label={t('skills.edit.newFile')}
            hideLabel
            placeholder={t('skills.edit.newFile')}
            value={path()}
            onValue={setPath}
          />
        </div>
        <IconButton type="submit" icon={FilePlus} label={t('skills.edit.addFile')} class="max-md:size-10" />
      </form>
    </div>
  )
}

/** In place of a path while it is changed. Enter and leaving the field take it, Escape does not. */
function PathForm(props: { label: string; path: string; onPath: (path: string) => void }): JSX.Element {
  const [path, setPath] = createSignal(props.path)
  let isDone = false
  const finish = (to: string) => {
    // Leaving the field follows from each of them.
    if (isDone) return
    isDone = true
    props.onPath(to.trim())
  }
  return (
    <form
      class="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault()
        finish(path())
      }}
    >
      <TextField
        mono
        isFirst
        label={props.label}
        hideLabel
        value={path()}
        onValue={setPath}
        onBlur={() => finish(path())}
        onKeyDown={(event) => {
          if (event.key === 'Escape') finish(props.path)
        }}
      />
    </form>
  )
}
