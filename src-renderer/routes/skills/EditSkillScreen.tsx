import { Navigate, useNavigate, useParams, useSearchParams } from '@solidjs/router'
import { createEffect, createSignal, type JSX, Match, on, Show, Switch } from 'solid-js'
import type { SkillEditFile } from '../../../src-runner/contract/skills.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { useSkill, useSkillDraft, useSkillFiles } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { BackLink } from '../../ui/BackLink.tsx'
import { DraftState } from './DraftState.tsx'
import { SKILL_FILE, SkillEditor } from './SkillEditor.tsx'

/** `/skills/new`, also with the draft that a job wrote, and `/skills/<id>/edit`. */
export function EditSkillScreen(): JSX.Element {
  const params = useParams<{ skillId?: string }>()
  const may = useMay()
  return (
    <Show when={may('saveSkill')} fallback={<Navigate href={params.skillId === undefined ? '/skills' : `/skills/${params.skillId}`} />}>
      <Screen width="medium">
        <BackLink href="/skills">{t('skills.title')}</BackLink>
        <Show when={params.skillId} fallback={<NewSkill />}>
          {(skillId) => <OwnSkill skillId={skillId()} />}
        </Show>
      </Screen>
    </Show>
  )
}

function NewSkill(): JSX.Element {
  const [search] = useSearchParams<{ draft?: string }>()
  const navigate = useNavigate()
  const create = useAction('createSkill')
  const draft = useSkillDraft(() => search.draft ?? null)
  const [first, setFirst] = createSignal<readonly SkillEditFile[] | null>(search.draft === undefined ? [templateFile()] : null)
  // What the agent wrote comes once; from then on the person writes.
  createEffect(
    on(
      () => draft.data?.draft.status,
      (status) => status === 'ready' && first() === null && setFirst(draft.data!.draft.files),
    ),
  )
  return (
    <>
      <PageHeader title={t('skills.edit.newTitle')} description={t('skills.edit.about')} />
      <Show
        when={first()}
        fallback={
          <Show
            when={draft.data}
            fallback={<AnswerState answer={draft} missing={{ title: t('skills.draft.gone'), why: t('skills.draft.goneWhy') }} />}
          >
            {(data) => <DraftState draft={data().draft} onByHand={() => setFirst([templateFile()])} />}
          </Show>
        }
      >
        {(files) => (
          <SkillEditor
            files={files()}
            isNew
            isBusy={create.isRunning}
            error={create.error}
            warning={draft.data?.draft.isUntrusted === true ? t('skills.draft.untrusted') : undefined}
            onSave={async (written) => {
              const { skill } = await create.run({ body: { files: written } })
              return () => navigate(`/skills/${skill.id}`)
            }}
            onCancel={() => navigate('/skills')}
          />
        )}
      </Show>
    </>
  )
}

function OwnSkill(props: { skillId: string }): JSX.Element {
  const navigate = useNavigate()
  const skill = useSkill(() => props.skillId)
  const answer = useSkillFiles(() => props.skillId)
  const save = useAction('saveSkill')
  const [opened, setOpened] = createSignal<{ files: readonly SkillEditFile[]; digest: string; isChanged: boolean } | null>(null)
  // As it was opened: what another page saves meanwhile must not replace what the person writes.
  createEffect(
    on(
      () => answer.data,
      (data) => data !== undefined && opened() === null && setOpened(data),
    ),
  )
  const name = () => skill.data?.skill.name ?? ''
  return (
    <Switch>
      <Match when={skill.data !== undefined && skill.data.skill.kind !== 'own'}>
        <h1 class="text-xl font-semibold text-ink">{visibleText(name())}</h1>
        <p class="mt-2 text-sm text-ink-2">{t('messages.error_skill_not_own')}</p>
      </Match>
      <Match when={opened()}>
        {(one) => (
          <>
            <PageHeader title={t('skills.edit.title', { name: name() })} description={t('skills.edit.about')} />
            <SkillEditor
              files={one().files}
              skillId={props.skillId}
              isBusy={save.isRunning}
              error={save.error}
              warning={one().isChanged ? t('skills.edit.changed') : undefined}
              onSave={async (files) => {
                await save.run({ params: { skillId: props.skillId }, body: { files, expectedDigest: one().digest } })
                return () => navigate(`/skills/${props.skillId}`)
              }}
              onCancel={() => navigate(`/skills/${props.skillId}`)}
            />
          </>
        )}
      </Match>
      <Match when={true}>
        <h1 class="sr-only">{t('skills.title')}</h1>
        <AnswerState answer={skill.error === null ? answer : skill} missing={{ title: t('skills.gone'), why: t('skills.goneWhy') }} />
      </Match>
    </Switch>
  )
}

/** A start that is a whole skill but for its words. */
function templateFile(): SkillEditFile {
  const text = t('skills.edit.template')
  return { path: SKILL_FILE, text, bytes: text.length }
}
