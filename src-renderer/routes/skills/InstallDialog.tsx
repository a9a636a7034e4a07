import { useNavigate } from '@solidjs/router'
import FolderOpen from 'lucide-solid/icons/folder-open'
import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { SkillPreview } from '../../../src-runner/contract/skills.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { ReviewSkill } from './ReviewSkill.tsx'

/** Installs a skill: where it comes from, then what is in it. Nothing is fetched before the person asks. */
export function InstallDialog(props: {
  agents: readonly Agent[]
  agentId?: string | undefined
  source: string
  onClose: () => void
}): JSX.Element {
  const navigate = useNavigate()
  const [source, setSource] = createSignal(props.source)
  const [preview, setPreview] = createSignal<SkillPreview | null>(null)
  return (
    <Switch>
      <Match when={preview()}>
        {(one) => (
          <ReviewSkill
            preview={one()}
            agents={props.agents}
            agentId={props.agentId}
            onAgain={setPreview}
            onBack={() => setPreview(null)}
            onDone={(skillId) => {
              props.onClose()
              navigate(`/skills/${skillId}`)
            }}
            onClose={props.onClose}
          />
        )}
      </Match>
      <Match when={true}>
        <ChooseSource source={source()} onSource={setSource} onPreview={setPreview} onClose={props.onClose} />
      </Match>
    </Switch>
  )
}

function ChooseSource(props: {
  source: string
  onSource: (source: string) => void
  onPreview: (preview: SkillPreview) => void
  onClose: () => void
}): JSX.Element {
  const desktop = useDesktop()
  const read = useAction('previewSkill')
  const look = async (source: string) => {
    if (source.trim() === '') return
    props.onSource(source)
    try {
      props.onPreview((await read.run({ body: { source: source.trim() } })).preview)
    } catch {
      // Shown under the field.
    }
  }
  const pick = async () => {
    const path = await desktop.pickFolder()
    if (path !== null) await look(path)
  }
  return (
    <FormDialog
      title={t('skills.install.title')}
      description={t('skills.install.about')}
      submit={t('skills.install.preview')}
      onSubmit={() => void look(props.source)}
      isRunning={read.isRunning}
      onClose={props.onClose}
    >
      <TextField
        label={t('skills.install.source')}
        mono
        isFirst
        placeholder="https://github.com/anthropics/skills/tree/main/skills/pdf"
        hint={t('skills.install.sourceHint')}
        value={props.source}
        onValue={(source) => {
          read.reset()
          props.onSource(source)
        }}
      />
      <Show when={desktop.inApp}>
        <Button class="self-start" icon={FolderOpen} disabled={read.isRunning} onClick={() => void pick()}>
          {t('skills.install.pickFolder')}
        </Button>
      </Show>
      <Show when={foldersIn(read.error)} fallback={<FormProblem error={read.error} />}>
        {(folders) => (
          <section role="alert" aria-label={t('skills.install.several')}>
            <p class="mb-1.5 text-sm font-medium text-ink">{t('skills.install.several')}</p>
            <ul class="flex flex-wrap gap-1.5">
              <For each={folders()}>
                {(folder) => (
                  <li>
                    <Button size="sm" disabled={read.isRunning} onClick={() => void look(`${withoutFolder(props.source)}#${folder}`)}>
                      {visibleText(folder)}
                    </Button>
                  </li>
                )}
              </For>
            </ul>
          </section>
        )}
      </Show>
      <Show when={read.isRunning}>
        <p role="status" class="text-xs text-ink-3">
          {t('skills.install.reading')}
        </p>
      </Show>
    </FormDialog>
  )
}

/** The folders of the skills at a source that holds several. null: the error is another one. */
function foldersIn(error: unknown): string[] | null {
  const detail = error instanceof ApiError ? error.detail : undefined
  const folders = detail?.code === 'skill_several' ? detail.params['folders'] : null
  return typeof folders === 'string' ? folders.split(', ') : null
}

function withoutFolder(source: string): string {
  return source.trim().replace(/#.*$/s, '')
}
