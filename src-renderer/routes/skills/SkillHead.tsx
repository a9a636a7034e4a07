import { useNavigate } from '@solidjs/router'
import BookOpen from 'lucide-solid/icons/book-open'
import FileArchive from 'lucide-solid/icons/file-archive'
import FolderDown from 'lucide-solid/icons/folder-down'
import PenLine from 'lucide-solid/icons/pen-line'
import RefreshCw from 'lucide-solid/icons/refresh-cw'
import Trash from 'lucide-solid/icons/trash'
import { createSignal, type JSX, Show } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { blobOf, download } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { IconTile } from '../../ui/IconTile.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { FileInput } from './FileInput.tsx'
import { SkillState } from './SkillList.tsx'

/** The name of a skill, its state, and what can be done with it. */
export function SkillHead(props: { skill: Skill; onUpdate: () => void; onFile: (file: File) => void }): JSX.Element {
  const navigate = useNavigate()
  const { client } = useApi()
  const remove = useAction('deleteSkill')
  const may = useMay()
  const [isRemoving, setRemoving] = createSignal(false)
  const params = () => ({ skillId: props.skill.id })
  const isOwn = () => props.skill.kind === 'own'
  const hasFiles = () => props.skill.contents.files.length > 0 && props.skill.status !== 'missing'
  const save = async () => {
    try {
      const { fileName, base64 } = await client.call('exportSkill', { params: params() })
      download(blobOf(base64, 'application/zip'), fileName)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  const changes = (choose: () => void) => {
    if (props.skill.status === 'imported') return []
    if (props.skill.kind === 'source') return [{ label: t('skills.update.look'), icon: RefreshCw, onSelect: () => props.onUpdate() }]
    return props.skill.kind === 'file' ? [{ label: t('skills.update.fromFile'), icon: FileArchive, onSelect: choose }] : []
  }
  return (
    <>
      <PageHeader
        leading={<IconTile icon={BookOpen} size="lg" />}
        title={visibleText(props.skill.name)}
        description={
          <span class="flex flex-wrap items-center gap-1.5">
            <SkillState skill={props.skill} />
          </span>
        }
        actions={
          <Show when={may('deleteSkill')}>
            <Show when={isOwn() && hasFiles()}>
              <ButtonLink href={`/skills/${props.skill.id}/edit`} icon={PenLine}>
                {t('common.edit')}
              </ButtonLink>
            </Show>
            <FileInput onFile={props.onFile}>
              {(choose) => (
                <Menu
                  label={t('skills.actions', { name: props.skill.name })}
                  items={[
                    ...changes(choose),
                    ...(hasFiles()
                      ? [{ label: t('skills.export'), icon: FolderDown, onSelect: () => void save() }, 'separator' as const]
                      : []),
                    { label: t('common.remove'), icon: Trash, tone: 'bad', onSelect: () => setRemoving(true) },
                  ]}
                />
              )}
            </FileInput>
          </Show>
        }
      />
      <p class="-mt-2 mb-5 text-sm wrap-anywhere text-ink-2">{visibleText(props.skill.description)}</p>
      <ConfirmDialog
        open={isRemoving()}
        onClose={() => setRemoving(false)}
        title={t('skills.removeTitle', { name: props.skill.name })}
        confirm={t('common.remove')}
        tone="bad"
        onConfirm={async () => {
          await remove.run({ params: params() })
          navigate('/skills')
        }}
        describeError={sentenceOf}
      >
        {t(isOwn() ? 'skills.removeOwnWhy' : 'skills.removeWhy')}
      </ConfirmDialog>
    </>
  )
}
