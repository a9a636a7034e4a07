import { A } from '@solidjs/router'
import { createSignal, For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { SkillOrigin, SkillPreview } from '../../../src-runner/contract/skills.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { FormProblem } from '../../features/forms/FormProblem.tsx'
import { t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { sourceText } from './skill.ts'
import { FileList, SkillFacts } from './SkillFacts.tsx'
import { SkillText, type TextView, ViewChoice } from './SkillText.tsx'
import { Verdict } from './Verdict.tsx'

/** Everything that is in a skill before it is installed, and the button that installs exactly that. */
export function ReviewSkill(props: {
  origin: SkillOrigin
  preview: SkillPreview
  agents: readonly Agent[]
  /** Chosen at first. */
  agentIds: readonly string[]
  /** The digest of the version that an import names. */
  importedDigest: string | undefined
  /** The source has changed since: this is what it has now. */
  onAgain: (preview: SkillPreview) => void
  onBack: () => void
  onDone: (skillId: string) => void
  onClose: () => void
}): JSX.Element {
  const install = useAction('installSkill')
  const read = useAction('previewSkill')
  const [chosen, setChosen] = createSignal(props.agentIds)
  const [view, setView] = createSignal<TextView>('source')
  const contents = () => props.preview.contents
  const hasMoved = () => install.error instanceof ApiError && install.error.detail?.code === 'error_skill_has_changed'
  const send = async () => {
    const body = { ...props.origin, expectedDigest: contents().digest, agents: chosen().map((agentId) => ({ agentId })) }
    try {
      props.onDone((await install.run({ body })).skill.id)
    } catch {
      // Shown above the buttons.
    }
  }
  const lookAgain = async () => {
    try {
      const { preview } = await read.run({ body: props.origin })
      install.reset()
      props.onAgain(preview)
    } catch {
      // Shown above the buttons.
    }
  }
  return (
    <Dialog
      open
      size="lg"
      isText
      onClose={props.onClose}
      title={visibleText(contents().name)}
      description={t('skills.install.from', { source: sourceText(props.preview.source) })}
      actions={
        <>
          <Button onClick={() => props.onBack()}>{t('common.back')}</Button>
          <Show when={props.preview.installedSkillId === null}>
            <Show
              when={!hasMoved()}
              fallback={
                <Button variant="primary" busy={read.isRunning} onClick={() => void lookAgain()}>
                  {t('skills.install.again')}
                </Button>
              }
            >
              <Button variant="primary" busy={install.isRunning} onClick={() => void send()}>
                {t('skills.install.install')}
              </Button>
            </Show>
          </Show>
        </>
      }
    >
      <div class="flex flex-col gap-5">
        <p class="text-sm wrap-anywhere text-ink">{visibleText(contents().description)}</p>
        <Show when={props.preview.installedSkillId}>
          {(skillId) => (
            <p class="rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">
              {t('skills.install.taken')}{' '}
              <A href={`/skills/${skillId()}`} class="font-medium text-accent-ink hover:underline">
                {t('skills.install.showInstalled')}
              </A>
            </p>
          )}
        </Show>
        <Show when={(props.importedDigest ?? contents().digest) !== contents().digest}>
          <p class="rounded-md bg-warn-soft px-3 py-2 text-sm text-ink">{t('skills.imported.otherVersion')}</p>
        </Show>
        <Verdict contents={contents()} />
        <Part title={t('skills.facts.title')} about={t('skills.facts.about')}>
          <SkillFacts contents={contents()} />
        </Part>
        {/* Formatted, a text can hide something. */}
        <Part title={t('skills.text.title')} actions={<ViewChoice view={view()} onView={setView} />}>
          <SkillText text={props.preview.text} view={view()} />
        </Part>
        <Part title={t('skills.facts.files')}>
          <FileList files={contents().files} textOf={(path) => props.preview.texts.find((one) => one.path === path)?.text} />
        </Part>
        <Show when={props.preview.installedSkillId === null && props.agents.length > 0}>
          <fieldset class="flex flex-col gap-2">
            <legend class="mb-1 text-sm font-semibold text-ink">{t('skills.install.agents')}</legend>
            <For each={props.agents}>
              {(agent) => (
                <Checkbox
                  label={visibleText(agent.name)}
                  checked={chosen().includes(agent.id)}
                  onChecked={(on) => setChosen((all) => (on ? [...all, agent.id] : all.filter((id) => id !== agent.id)))}
                />
              )}
            </For>
            <p class="text-xs text-ink-3">{t('skills.install.agentsHint')}</p>
          </fieldset>
        </Show>
        <FormProblem error={install.error ?? read.error} />
      </div>
    </Dialog>
  )
}

function Part(props: { title: string; about?: string; actions?: JSX.Element; children: JSX.Element }): JSX.Element {
  return (
    <section aria-label={props.title}>
      <div class="flex items-center gap-3">
        <div class="min-w-0 flex-1">
          <h3 class="text-sm font-semibold text-ink">{props.title}</h3>
          <Show when={props.about}>
            <p class="text-xs text-ink-3">{props.about}</p>
          </Show>
        </div>
        {props.actions}
      </div>
      <div class="mt-2">{props.children}</div>
    </section>
  )
}
