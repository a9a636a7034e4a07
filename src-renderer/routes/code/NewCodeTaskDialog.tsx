import { createMemo, createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { CODING_PROGRAM_NAMES, CodingCli } from '../../../src-runner/contract/coding-programs.ts'
import { MAX_TASK_CHARS } from '../../../src-runner/contract/primitives.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { useCodeRepositories, useCodingProgram, useSandbox } from '../../api/queries.ts'
import { isUsable } from '../../features/coding/program-state.ts'
import { t } from '../../lib/language.ts'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { type ProgramAnswers, ProgramField } from './ProgramField.tsx'
import { RepositoryField } from './RepositoryField.tsx'

type Field = 'program' | 'repository' | 'task'

/** The form for a new code task. It says where the program runs, and what it may reach, before anything starts. */
export function NewCodeTaskDialog(props: {
  agents: readonly Agent[]
  agentId: string | undefined
  folder: string | undefined
  onClose: () => void
  onStarted: (jobId: string) => void
}): JSX.Element {
  const answers = Object.fromEntries(CodingCli.options.map((cli) => [cli, useCodingProgram(cli)])) as ProgramAnswers
  const create = useAction('createCodeTask')
  const updateAgent = useAction('updateAgent')
  const [chosenCli, setCli] = createSignal<CodingCli | null>(null)
  const [chosenAgent, setAgent] = createSignal(props.agentId)
  const [chosenFolder, setFolder] = createSignal<string | null>(props.folder ?? null)
  const [task, setTask] = createSignal('')
  const [internet, setInternet] = createSignal(false)
  const [wasTried, setTried] = createSignal(false)
  const [error, setError] = createSignal<unknown>(null)

  const agent = createMemo(
    () => props.agents.find(({ id }) => id === chosenAgent()) ?? props.agents.find(({ isDefault }) => isDefault) ?? props.agents[0]!,
  )
  const repositories = useCodeRepositories(() => agent().id)
  const usable = (signedIn: boolean) =>
    CodingCli.options.find((cli) => {
      const program = answers[cli].data
      return program !== undefined && isUsable(program) && (!signedIn || program.signedIn === 'yes')
    })
  const isChecking = () => CodingCli.options.some((cli) => answers[cli].isPending)
  /** Until the person chooses: one that is signed in, and once all were checked, one that is installed. */
  const cli = () => chosenCli() ?? usable(true) ?? (isChecking() ? null : (usable(false) ?? null))
  const folder = () => chosenFolder() ?? repositories.data?.repositories[0]?.folder ?? null
  const isUsableCli = () => {
    const program = cli() === null ? undefined : answers[cli()!].data
    // A check that failed says nothing about the program, so the runner decides.
    return cli() !== null && (program === undefined || isUsable(program))
  }
  const problems = createMemo((): Partial<Record<Field, string>> => ({
    ...(!isUsableCli() && { program: t('code.form.problems.program') }),
    ...(folder() === null && { repository: t('code.form.problems.repository') }),
    ...(task().trim() === '' && { task: t('code.form.problems.task') }),
  }))
  const problemOf = (field: Field) => (wasTried() ? (problems()[field] ?? null) : null)
  const isOpen = (path: string) => repositories.data?.repositories.some((one) => one.folder === path) === true

  const isStarting = () => create.isRunning || updateAgent.isRunning
  /** What is not known yet is no problem of the person's. */
  const isLooking = () => (cli() === null && isChecking()) || (folder() === null && repositories.isPending)
  const start = async () => {
    setTried(true)
    if (Object.keys(problems()).length > 0 || isStarting() || isLooking()) return
    const at = folder()!
    const { id: agentId, folders } = agent()
    const openFolders = (open: string[]) => updateAgent.run({ params: { agentId }, body: { folders: open } })
    const opens = !isOpen(at) && !folders.includes(at)
    try {
      if (opens) await openFolders([...folders, at])
      const body = { agentId, cli: cli()!, folder: at, task: task().trim(), internet: internet() }
      // A folder is not left open for a task that did not start.
      const { jobId } = await create.run({ body }).catch(async (thrown: unknown) => {
        if (opens) await openFolders(folders).catch(() => {})
        throw thrown
      })
      props.onStarted(jobId)
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <FormDialog
      size="lg"
      title={t('code.new')}
      description={t('code.form.about')}
      submit={t('code.form.start')}
      onSubmit={() => void start()}
      isRunning={isStarting() || isLooking()}
      onClose={props.onClose}
    >
      <TextArea
        label={t('code.form.task')}
        rows={3}
        maxRows={10}
        maxLength={MAX_TASK_CHARS}
        placeholder={t('code.form.taskPlaceholder')}
        problem={problemOf('task')}
        value={task()}
        onValue={setTask}
      />
      <Select
        label={t('code.form.agent')}
        hint={t('code.form.agentWhy')}
        options={props.agents.map(({ id, name }) => ({ value: id, label: name }))}
        value={agent().id}
        onValue={(id) => {
          setAgent(id)
          setFolder(null)
        }}
      />
      <RepositoryField
        agentName={agent().name}
        answer={repositories}
        value={folder()}
        onValue={setFolder}
        problem={problemOf('repository')}
      />
      <ProgramField answers={answers} value={cli()} onValue={setCli} problem={problemOf('program')} />
      <WhereItRuns program={cli() === null ? t('code.form.program') : CODING_PROGRAM_NAMES[cli()!]} />
      <Checkbox label={t('code.form.internet')} hint={t('code.form.internetWhy')} checked={internet()} onChecked={setInternet} />
      <Show when={error()}>
        {(thrown) => (
          <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad">
            {sentenceOf(thrown())}
          </p>
        )}
      </Show>
    </FormDialog>
  )
}

/** In the sandbox or not, before anything starts. */
function WhereItRuns(props: { program: string }): JSX.Element {
  const sandbox = useSandbox()
  return (
    <div role="status" class="rounded-lg border border-line bg-inset px-3 py-2 text-sm">
      <p class="font-medium text-ink">{t('code.form.where')}</p>
      <Switch fallback={<p class="text-ink-2">{t('code.form.checkingWhere')}</p>}>
        <Match when={sandbox.data?.sandbox.works === true}>
          <p class="text-ink-2">{t('code.form.inSandbox', { program: props.program })}</p>
        </Match>
        <Match when={sandbox.data !== undefined}>
          <p class="text-warn">{t('code.form.noSandbox', { program: props.program })}</p>
        </Match>
        <Match when={sandbox.error}>
          <p class="text-bad">{sentenceOf(sandbox.error)}</p>
        </Match>
      </Switch>
    </div>
  )
}
