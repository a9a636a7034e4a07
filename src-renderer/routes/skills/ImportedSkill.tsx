import FileArchive from 'lucide-solid/icons/file-archive'
import { createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { useAgents } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { FileInput } from './FileInput.tsx'
import { InstallDialog } from './InstallDialog.tsx'

/** A skill that came with an import: what the person does so that agents get it. An own one is on the page already. */
export function ImportedSkill(props: { skill: Skill }): JSX.Element {
  const agents = useAgents()
  const allow = useAction('updateSkillSettings')
  const may = useMay()
  const [opens, setOpens] = createSignal<File | { skill: string } | null>(null)
  const install = () => allow.run({ params: { skillId: props.skill.id }, body: { allowedDigest: props.skill.digest } })
  return (
    <div role="status" class="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-lg bg-accent-soft px-4 py-3">
      <div class="min-w-60 flex-1 text-sm text-ink">
        <p class="font-medium">{t('skills.imported.title')}</p>
        <p class="text-ink-2">{t(`skills.imported.why.${props.skill.kind}`)}</p>
      </div>
      <Switch>
        <Match when={!may('installSkill')}>{null}</Match>
        <Match when={props.skill.kind === 'own'}>
          <Button size="sm" busy={allow.isRunning} onClick={() => void install().catch(toastError)}>
            {t('skills.install.install')}
          </Button>
        </Match>
        <Match when={props.skill.kind === 'file'}>
          <FileInput onFile={setOpens}>
            {(choose) => (
              <Button size="sm" icon={FileArchive} onClick={choose}>
                {t('skills.install.pickFile')}
              </Button>
            )}
          </FileInput>
        </Match>
        <Match when={true}>
          <Button size="sm" onClick={() => setOpens({ skill: props.skill.source })}>
            {t('skills.install.preview')}
          </Button>
        </Match>
      </Switch>
      <Show when={opens() !== null && agents.data}>
        {(loaded) => (
          <InstallDialog
            agents={loaded().agents}
            agentIds={props.skill.agents.map(({ agentId }) => agentId)}
            source={props.skill.kind === 'source' ? props.skill.source : ''}
            opens={opens()!}
            importedDigest={props.skill.digest}
            onClose={() => setOpens(null)}
          />
        )}
      </Show>
    </div>
  )
}
