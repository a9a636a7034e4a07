import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { createSignal, For, type JSX, Match, onMount, Show, Switch } from 'solid-js'
import type { Skill, SkillUpdatePreview, SkillUpload } from '../../../src-runner/contract/skills.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { DiffView } from '../../features/files/DiffView.tsx'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { readBase64 } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { FoldRow } from '../../ui/FoldRow.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { permissionText } from './skill.ts'
import { Verdict } from './Verdict.tsx'

/** What an update would change, and the button that takes exactly this version. What it newly asks for is off until allowed. */
export function UpdateDialog(props: {
  skill: Skill
  /** A newer version of a skill that came from a file. null: its source has it. */
  file: File | null
  onClose: () => void
}): JSX.Element {
  const read = useAction('previewSkillUpdate')
  const update = useAction('updateSkill')
  const later = useAction('acknowledgeSkillUpdate')
  const [preview, setPreview] = createSignal<SkillUpdatePreview | null>(null)
  const [allows, setAllows] = createSignal(false)
  const params = () => ({ skillId: props.skill.id })
  let upload: SkillUpload | null = null
  const look = async () => {
    setPreview(null)
    // What was allowed for one version is not allowed for another.
    setAllows(false)
    update.reset()
    try {
      upload ??= props.file && { fileName: props.file.name, base64: await readBase64(props.file) }
      setPreview(await read.run({ params: params(), ...(upload && { body: { upload } }) }))
    } catch {
      // Shown in the dialog.
    }
  }
  onMount(() => void look())
  const take = async (expectedDigest: string) => {
    try {
      const { consentRevoked } = await update.run({
        params: params(),
        body: { expectedDigest, allowsPermissions: allows(), ...(upload && { upload }) },
      })
      props.onClose()
      toast({ text: t(consentRevoked ? 'skills.update.doneOff' : 'skills.update.done', { name: props.skill.name }) })
    } catch {
      // Shown in the dialog.
    }
  }
  const wait = async () => {
    try {
      await later.run({ params: params() })
      props.onClose()
    } catch {
      // Shown in the dialog.
    }
  }
  const hasMoved = () => update.error instanceof ApiError && update.error.detail?.code === 'error_skill_has_changed'
  const changed = () => (preview()?.changed === true ? preview() : null)
  return (
    <Dialog
      open
      size="lg"
      onClose={props.onClose}
      title={t('skills.update.title', { name: props.skill.name })}
      actions={
        <Switch fallback={<Button onClick={() => props.onClose()}>{t('common.close')}</Button>}>
          <Match when={read.error !== null || hasMoved()}>
            <Button onClick={() => props.onClose()}>{t('common.cancel')}</Button>
            <Button variant="primary" busy={read.isRunning} onClick={() => void look()}>
              {t(hasMoved() ? 'skills.install.again' : 'common.retry')}
            </Button>
          </Match>
          <Match when={changed()}>
            {(one) => (
              <>
                <Show when={props.skill.kind === 'source'} fallback={<Button onClick={() => props.onClose()}>{t('common.cancel')}</Button>}>
                  <Button busy={later.isRunning} onClick={() => void wait()}>
                    {t('skills.update.later')}
                  </Button>
                </Show>
                <Button variant="primary" busy={update.isRunning} onClick={() => void take(one().upstreamDigest)}>
                  {t('skills.update.take')}
                </Button>
              </>
            )}
          </Match>
        </Switch>
      }
    >
      <Switch
        fallback={
          <div role="status" class="flex min-h-32 flex-col items-center justify-center gap-3 text-sm text-ink-2">
            <LoaderCircle size={24} class="animate-spin text-ink-3" aria-hidden="true" />
            {t('skills.install.reading')}
          </div>
        }
      >
        <Match when={read.error}>{(error) => <FormProblem error={error()} />}</Match>
        <Match when={changed()}>
          {(one) => (
            <div class="flex flex-col gap-5">
              <NewPermissions permissions={one().permissionsAdded} allows={allows()} onAllows={setAllows} />
              <Verdict contents={one().newFindings} isUpdate />
              <Show when={one().findingCount > one().newFindings.findings.length}>
                <p class="-mt-3 text-xs text-ink-3">
                  {t('skills.update.oldFindings', { count: one().findingCount - one().newFindings.findings.length })}
                </p>
              </Show>
              <Changes files={one().files} />
              <FormProblem error={update.error ?? later.error} />
            </div>
          )}
        </Match>
        <Match when={preview()}>
          <p class="py-6 text-center text-sm text-ink-2">{t('skills.update.none')}</p>
        </Match>
      </Switch>
    </Dialog>
  )
}

function NewPermissions(props: { permissions: readonly string[]; allows: boolean; onAllows: (allows: boolean) => void }): JSX.Element {
  return (
    <Show when={props.permissions.length > 0} fallback={<p class="text-sm text-ink-2">{t('skills.update.nothingNew')}</p>}>
      <section aria-label={t('skills.update.asksFor')} class="rounded-lg bg-warn-soft px-4 py-3">
        <h3 class="text-sm font-semibold text-ink">{t('skills.update.asksFor')}</h3>
        <ul class="mt-1 mb-3 list-disc pl-4 text-sm text-ink">
          <For each={props.permissions}>{(permission) => <li class="wrap-anywhere">{permissionText(permission)}</li>}</For>
        </ul>
        <Checkbox label={t('skills.update.allow')} hint={t('skills.update.allowHint')} checked={props.allows} onChecked={props.onAllows} />
      </section>
    </Show>
  )
}

type FileChange = SkillUpdatePreview['files'][number]

const TONES = { added: 'ok', modified: 'accent', deleted: 'bad' } as const

/** How many are open at first. */
const OPEN_FILES = 3

/** The instructions first. */
function Changes(props: { files: readonly FileChange[] }): JSX.Element {
  const isText = ({ path }: FileChange) => path === 'SKILL.md'
  const files = () => props.files.toSorted((one, other) => Number(isText(other)) - Number(isText(one)))
  return (
    <section aria-label={t('files.title')}>
      <h3 class="mb-2 text-sm font-semibold text-ink">{t('files.count', { count: props.files.length })}</h3>
      <ul class="overflow-hidden rounded-lg border border-line">
        <For each={files()}>{(file, at) => <Change file={file} isOpen={at() < OPEN_FILES} />}</For>
      </ul>
    </section>
  )
}

function Change(props: { file: FileChange; isOpen: boolean }): JSX.Element {
  return (
    <FoldRow
      compact
      isOpen={props.isOpen}
      head={
        <>
          <Pill tone={TONES[props.file.change]}>{t(`files.change.${props.file.change}`)}</Pill>
          <span class="min-w-0 font-mono text-xs wrap-anywhere text-ink">{visibleText(props.file.path)}</span>
        </>
      }
    >
      <Show when={props.file.diff !== ''} fallback={<p class="text-sm text-ink-3">{t('skills.update.noDiff')}</p>}>
        <DiffView path={props.file.path} diff={props.file.diff} height="max-h-96" />
      </Show>
    </FoldRow>
  )
}
