import ArrowRight from 'lucide-solid/icons/arrow-right'
import FolderOpen from 'lucide-solid/icons/folder-open'
import FolderPlus from 'lucide-solid/icons/folder-plus'
import { RadioGroup } from '@kobalte/core/radio-group'
import { createSignal, For, Show } from 'solid-js'
import { useAction } from '../../api/mutations.ts'
import { issueOf, sentenceOf } from '../../api/problem.ts'
import { toastError } from '../../api/toast-error.ts'
import { type Starter, STARTERS } from '../../features/agents/starters.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { HINT_CLASS, LABEL_CLASS } from '../../ui/field.ts'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { rememberFirstAgent } from './starters.ts'
import { StepHead } from './StepHead.tsx'

/** Creates the first agent from one of three starters. Everything can be changed now and later. */
export function AgentStep(props: { onDone: () => void; onBack: () => void }) {
  const create = useAction('createAgent')
  const [starter, setStarter] = createSignal<Starter>('guide')
  const [name, setName] = createSignal<string | null>(null)
  const [instructions, setInstructions] = createSignal<string | null>(null)
  const [folder, setFolder] = createSignal('')
  // Fields that the person has not changed follow the starter.
  const shownName = () => name() ?? t(`welcome.agent.starters.${starter()}.name`)
  const shownInstructions = () => instructions() ?? t(`welcome.agent.starters.${starter()}.instructions`)
  const folderProblem = () => issueOf(create.error, 'folders') ?? (isFolderError() ? sentenceOf(create.error) : null)
  const isFolderError = () => (create.error as { code?: string } | null)?.code === 'folder_not_usable'

  const sample = useAction('makeSampleFolder')
  const useSample = async () => {
    try {
      setFolder((await sample.run({})).path)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  const submit = async () => {
    const path = folder().trim()
    try {
      const { agent } = await create.run({
        body: { name: shownName(), instructions: shownInstructions(), folders: path === '' ? [] : [path] },
      })
      rememberFirstAgent(agent.id, starter(), path !== '')
      props.onDone()
    } catch {
      // Its field or the form shows the error.
    }
  }
  return (
    <form
      novalidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <StepHead title={t('welcome.agent.title')} about={t('welcome.agent.about')} />
      <div class="flex flex-col gap-5">
        <RadioGroup value={starter()} onChange={(value) => setStarter(value as Starter)}>
          <RadioGroup.Label class="sr-only">{t('welcome.agent.starter')}</RadioGroup.Label>
          <div class="grid grid-cols-3 gap-2 max-sm:grid-cols-1">
            <For each={STARTERS}>
              {(one) => (
                <RadioGroup.Item value={one} class="relative">
                  <RadioGroup.ItemInput class="peer" />
                  <RadioGroup.ItemLabel class="flex h-full flex-col gap-1 rounded-xl border border-line bg-surface p-3 shadow-card transition-colors duration-100 peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent-ink hover:border-line-strong data-checked:border-accent-ink data-checked:bg-accent-soft">
                    <span class="flex items-center gap-2">
                      <Avatar name={t(`welcome.agent.starters.${one}.name`)} size="sm" />
                      <span class="font-medium">{t(`welcome.agent.starters.${one}.name`)}</span>
                    </span>
                    <span class="text-xs text-ink-2">{t(`welcome.agent.starters.${one}.what`)}</span>
                  </RadioGroup.ItemLabel>
                </RadioGroup.Item>
              )}
            </For>
          </div>
        </RadioGroup>
        <TextField
          label={t('welcome.agent.name')}
          value={shownName()}
          onValue={setName}
          maxLength={120}
          problem={issueOf(create.error, 'name')}
        />
        <FolderField value={folder()} onValue={setFolder} problem={folderProblem()} />
        <Show when={folder() === ''}>
          <Button
            variant="ghost"
            size="sm"
            class="-mt-3 self-start"
            icon={FolderPlus}
            busy={sample.isRunning}
            onClick={() => void useSample()}
          >
            {t('welcome.agent.sample')}
          </Button>
        </Show>
        <details class="group">
          <summary class="text-sm text-accent-ink hover:underline">{t('welcome.agent.showInstructions')}</summary>
          <TextArea
            class="pt-2"
            label={t('welcome.agent.instructions')}
            hideLabel
            hint={t('welcome.agent.instructionsHint')}
            maxRows={14}
            rows={6}
            value={shownInstructions()}
            onValue={setInstructions}
            problem={issueOf(create.error, 'instructions')}
          />
        </details>
        <Show
          when={
            create.error &&
            folderProblem() === null &&
            issueOf(create.error, 'name') === null &&
            issueOf(create.error, 'instructions') === null
          }
        >
          <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            {sentenceOf(create.error)}
          </p>
        </Show>
        <div class="flex justify-between">
          <Button variant="ghost" onClick={() => props.onBack()}>
            {t('common.back')}
          </Button>
          <Button variant="primary" type="submit" icon={ArrowRight} busy={create.isRunning} disabled={shownName().trim() === ''}>
            {t('welcome.agent.create')}
          </Button>
        </div>
      </div>
    </form>
  )
}

/** Opens the system's dialog in the app. In a browser, the path is typed. */
function FolderField(props: { value: string; onValue: (path: string) => void; problem: string | null }) {
  const desktop = useDesktop()
  const pick = async () => {
    const path = await desktop.pickFolder()
    if (path !== null) props.onValue(path)
  }
  return (
    <Show
      when={desktop.inApp}
      fallback={
        <TextField
          label={t('welcome.agent.folder')}
          optional
          mono
          placeholder={t('welcome.agent.pathPlaceholder')}
          value={props.value}
          onValue={props.onValue}
          hint={t('welcome.agent.folderHint')}
          problem={props.problem}
        />
      }
    >
      <div class="flex flex-col gap-1.5">
        <p class={LABEL_CLASS}>
          {t('welcome.agent.folder')}
          <span class="text-xs font-normal text-ink-3">{t('common.optional')}</span>
        </p>
        <div class="flex min-w-0 items-center gap-3">
          <Button icon={FolderOpen} onClick={() => void pick()}>
            {props.value === '' ? t('welcome.agent.pick') : t('welcome.agent.change')}
          </Button>
          <Show when={props.value}>
            <code class="truncate font-mono text-xs" title={props.value}>
              {props.value}
            </code>
            <Button variant="ghost" size="sm" onClick={() => props.onValue('')}>
              {t('common.clear')}
            </Button>
          </Show>
        </div>
        <Show when={props.problem} fallback={<p class={HINT_CLASS}>{t('welcome.agent.folderHint')}</p>}>
          <p role="alert" class="text-xs text-bad">
            {props.problem}
          </p>
        </Show>
      </div>
    </Show>
  )
}
