import { useParams, useSearchParams } from '@solidjs/router'
import FileArchive from 'lucide-solid/icons/file-archive'
import PenLine from 'lucide-solid/icons/pen-line'
import RefreshCw from 'lucide-solid/icons/refresh-cw'
import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { useSkill, useSkillFiles } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { Time } from '../../ui/Time.tsx'
import { BackLink } from '../../ui/BackLink.tsx'
import { FileInput } from './FileInput.tsx'
import { ImportedSkill } from './ImportedSkill.tsx'
import { originText, permissionText } from './skill.ts'
import { SkillAgents } from './SkillAgents.tsx'
import { FileList, SkillFacts } from './SkillFacts.tsx'
import { SkillHead } from './SkillHead.tsx'
import { SkillText, type TextView, ViewChoice } from './SkillText.tsx'
import { UpdateDialog } from './UpdateDialog.tsx'
import { Verdict } from './Verdict.tsx'

/** `/skills/<id>`: one installed skill. */
export function SkillScreen(): JSX.Element {
  const params = useParams<{ skillId: string }>()
  const answer = useSkill(() => params.skillId)
  const shown = () => (answer.data?.skill.id === params.skillId ? answer.data : null)
  return (
    <Screen width="narrow">
      <BackLink href="/skills">{t('skills.title')}</BackLink>
      <Show
        when={shown()}
        fallback={
          <>
            <h1 class="sr-only">{t('skills.title')}</h1>
            <AnswerState answer={answer} missing={{ title: t('skills.gone'), why: t('skills.goneWhy') }} />
          </>
        }
      >
        {(data) => <OneSkill skill={data().skill} text={data().text} />}
      </Show>
    </Screen>
  )
}

function OneSkill(props: { skill: Skill; text: string | null }): JSX.Element {
  const [search, setSearch] = useSearchParams<{ update?: string }>()
  const [view, setView] = createSignal<TextView>('formatted')
  const [file, setFile] = createSignal<File | null>(null)
  const files = useSkillFiles(() => props.skill.id)
  const may = useMay()
  const showUpdate = () => setSearch({ update: '1' })
  return (
    <>
      <SkillHead skill={props.skill} onUpdate={showUpdate} onFile={setFile} />
      <div class="flex flex-col gap-4">
        <Show when={props.skill.status === 'imported'} fallback={<Notices skill={props.skill} onUpdate={showUpdate} onFile={setFile} />}>
          <ImportedSkill skill={props.skill} />
        </Show>
        <SkillAgents skill={props.skill} />
        <Show when={props.text}>
          {(text) => (
            <Panel title={t('skills.text.title')} actions={<ViewChoice view={view()} onView={setView} />}>
              <SkillText text={text()} view={view()} />
            </Panel>
          )}
        </Show>
        {/* Nothing is known of what came with an import without its files. */}
        <Show when={props.skill.contents.files.length > 0}>
          <Panel title={t('skills.facts.title')} description={t('skills.facts.about')}>
            <SkillFacts contents={props.skill.contents} />
          </Panel>
          <Panel title={t('skills.verdict.title')}>
            <Verdict contents={props.skill.contents} />
          </Panel>
          <Panel title={t('skills.facts.files')}>
            <FileList
              files={props.skill.contents.files}
              textOf={(path) => files.data?.files.find((one) => one.path === path)?.text ?? undefined}
            />
          </Panel>
        </Show>
        <Details skill={props.skill} />
      </div>
      <Show when={may('updateSkill') && (search.update !== undefined || file() !== null)}>
        <UpdateDialog
          skill={props.skill}
          file={file()}
          onClose={() => {
            setFile(null)
            setSearch({ update: undefined }, { replace: true })
          }}
        />
      </Show>
    </>
  )
}

/** What only the person can do now, each with the button that does it. */
function Notices(props: { skill: Skill; onUpdate: () => void; onFile: (file: File) => void }): JSX.Element {
  const allow = useAction('updateSkillSettings')
  const later = useAction('acknowledgeSkillUpdate')
  const may = useMay()
  const params = () => ({ skillId: props.skill.id })
  const isMissing = () => props.skill.status === 'missing'
  const box = 'flex flex-wrap items-start gap-x-4 gap-y-2 rounded-lg px-4 py-3'
  return (
    <>
      <Show when={props.skill.status === 'changed' || props.skill.status === 'missing'}>
        <div role="alert" class={`${box} bg-bad-soft`}>
          <div class="min-w-60 flex-1 text-sm text-ink">
            <p class="font-medium">{t(isMissing() ? 'skills.missing.title' : 'skills.changed.title')}</p>
            <p class="text-ink-2">{t(`skills.${isMissing() ? 'missing' : 'changed'}.why.${props.skill.kind}`)}</p>
          </div>
          <Switch>
            <Match when={!may('updateSkill')}>{null}</Match>
            {/* Only a backup has them. */}
            <Match when={props.skill.kind === 'own' && isMissing()}>{null}</Match>
            <Match when={props.skill.kind === 'own'}>
              <ButtonLink size="sm" icon={PenLine} href={`/skills/${props.skill.id}/edit`}>
                {t('skills.changed.see')}
              </ButtonLink>
            </Match>
            <Match when={props.skill.kind === 'file'}>
              <FileInput onFile={props.onFile}>
                {(choose) => (
                  <Button size="sm" icon={FileArchive} onClick={choose}>
                    {t('skills.install.pickFile')}
                  </Button>
                )}
              </FileInput>
            </Match>
            <Match when={true}>
              <Button size="sm" icon={RefreshCw} onClick={() => props.onUpdate()}>
                {t('skills.changed.restore')}
              </Button>
            </Match>
          </Switch>
        </div>
      </Show>
      <Show when={props.skill.status === 'needs_consent'}>
        <div role="alert" class={`${box} bg-warn-soft`}>
          <div class="min-w-60 flex-1 text-sm text-ink">
            <p class="font-medium">{t('skills.consent.title')}</p>
            <ul class="my-1 list-disc pl-4">
              <For each={props.skill.newPermissions}>{(permission) => <li class="wrap-anywhere">{permissionText(permission)}</li>}</For>
            </ul>
            <p class="text-ink-2">{t('skills.consent.why')}</p>
          </div>
          <Show when={may('updateSkillSettings')}>
            <Button
              size="sm"
              busy={allow.isRunning}
              onClick={() => void allow.run({ params: params(), body: { allowedDigest: props.skill.digest } }).catch(toastError)}
            >
              {t('skills.consent.allow')}
            </Button>
          </Show>
        </div>
      </Show>
      <Show
        when={may('updateSkill') && props.skill.hasUpdate && (props.skill.status === 'ready' || props.skill.status === 'needs_consent')}
      >
        <div class={`${box} bg-accent-soft`}>
          <p class="min-w-60 flex-1 text-sm text-ink">{t('skills.update.available')}</p>
          <div class="flex gap-2">
            <Button size="sm" variant="ghost" busy={later.isRunning} onClick={() => void later.run({ params: params() }).catch(toastError)}>
              {t('skills.update.later')}
            </Button>
            <Button size="sm" onClick={() => props.onUpdate()}>
              {t('skills.update.review')}
            </Button>
          </div>
        </div>
      </Show>
      <Show when={messageText(props.skill.checkProblem)}>
        {(problem) => <p class="text-xs wrap-anywhere text-warn">{t('skills.update.checkFailed', { problem: problem() })}</p>}
      </Show>
    </>
  )
}

function Details(props: { skill: Skill }): JSX.Element {
  const desktop = useDesktop()
  const value = 'text-sm text-ink-2'
  return (
    <Panel title={t('skills.details.title')} flush>
      <Row label={t('skills.details.source')}>
        <Show when={props.skill.kind === 'source'} fallback={<span class={`wrap-anywhere ${value}`}>{originText(props.skill)}</span>}>
          <span class="font-mono text-xs wrap-anywhere text-ink-2 select-all">{visibleText(props.skill.source)}</span>
        </Show>
      </Row>
      <Row label={t('skills.details.digest')} hint={t('skills.details.digestHint')}>
        <span class="flex min-w-0 items-center gap-1">
          <code class="font-mono text-xs text-ink-2" title={props.skill.digest}>
            {props.skill.digest.slice(0, 19)}…
          </code>
          <CopyButton size="sm" text={props.skill.digest} label={t('skills.details.copyDigest')} copy={desktop.copyText} />
        </span>
      </Row>
      <Row label={t(props.skill.kind === 'own' ? 'skills.details.made' : 'skills.details.installed')}>
        <Time at={props.skill.installedAt} class={value} />
      </Row>
      <Show when={props.skill.updatedAt !== props.skill.installedAt}>
        <Row label={t('skills.details.updated')}>
          <Time at={props.skill.updatedAt} class={value} />
        </Row>
      </Show>
      <Show when={props.skill.kind === 'source'}>
        <Row label={t('skills.details.checked')} hint={t('skills.details.checkedHint')}>
          <Show when={props.skill.checkedAt} fallback={<span class={value}>{t('skills.details.never')}</span>}>
            {(at) => <Time at={at()} class={value} />}
          </Show>
        </Row>
      </Show>
    </Panel>
  )
}
