import Play from 'lucide-solid/icons/play'
import { createMemo, createSignal, For, Show } from 'solid-js'
import type { ChatTurn } from '../../../src-runner/contract/jobs.ts'
import { MAX_TASK_CHARS } from '../../../src-runner/contract/primitives.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { AnswerState } from '../../api/AnswerState.tsx'
import { sentenceOf } from '../../api/problem.ts'
import { useAgents } from '../../api/queries.ts'
import { randomId } from '../../lib/ids.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { FirstJob } from './FirstJob.tsx'
import { FIRST_PROMPTS, readFirstAgent } from './starters.ts'
import { StepHead } from './StepHead.tsx'

/** Runs a first job from a suggestion and shows it live. */
export function JobStep(props: { jobId: string | null; onJob: (jobId: string | null) => void; onBack: () => void }) {
  const agents = useAgents()
  const { turns } = useApi()
  const [isRunning, setRunning] = createSignal(false)
  const [problem, setProblem] = createSignal<unknown>(null)
  const made = readFirstAgent()
  const agent = createMemo(() => {
    const all = agents.data?.agents ?? []
    return all.find((one) => one.id === made?.agentId) ?? all.find((one) => one.isDefault) ?? all[0]
  })
  const prompts = (): string[] => {
    const canRead = (agent()?.folders.length ?? 0) > 0
    return FIRST_PROMPTS[canRead ? (made?.starter ?? 'guide') : 'none'].map((key) => t(key))
  }
  const [task, setTask] = createSignal<string | null>(null)
  const shownTask = () => task() ?? prompts()[0]!
  /** The turn that was sent last. It keeps its client id when it is sent again, so that the runner does not start it twice. */
  let sent: ChatTurn | null = null
  const run = async () => {
    if (isRunning() || shownTask().trim() === '') return
    setRunning(true)
    setProblem(null)
    try {
      // It is the first turn of a conversation, which can go on in Chat.
      const turn = { agentId: agent()!.id, message: shownTask() }
      const isAgain = sent?.agentId === turn.agentId && sent.message === turn.message
      sent = { ...turn, clientId: isAgain ? sent!.clientId : randomId() }
      const { jobId } = await turns.start(sent)
      sent = null
      props.onJob(jobId)
    } catch (thrown) {
      setProblem(thrown)
    } finally {
      setRunning(false)
    }
  }
  return (
    <Show when={props.jobId} keyed fallback={<Compose />}>
      {(jobId) => <FirstJob jobId={jobId} onAgain={() => props.onJob(null)} />}
    </Show>
  )

  function Compose() {
    return (
      <Show when={agent()} fallback={<AnswerState answer={agents} rows={4} />}>
        {(one) => (
          <>
            <StepHead title={t('welcome.job.title', { agent: one().name })} about={t('welcome.job.about')} />
            <div class="flex flex-col gap-4">
              <TextArea
                label={t('welcome.job.task')}
                hideLabel
                rows={3}
                maxRows={12}
                maxLength={MAX_TASK_CHARS}
                placeholder={t('welcome.job.placeholder')}
                value={shownTask()}
                onValue={setTask}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
                  event.preventDefault()
                  void run()
                }}
              />
              <div class="flex flex-col items-start gap-1.5" role="group" aria-label={t('welcome.job.suggestions')}>
                <For each={prompts()}>
                  {(prompt) => (
                    <button
                      type="button"
                      aria-pressed={shownTask() === prompt}
                      class="rounded-full border border-line bg-surface px-3 py-1 text-left text-xs text-ink-2 transition-colors duration-100 hover:border-accent-ink hover:text-ink aria-pressed:border-accent-ink aria-pressed:bg-accent-soft aria-pressed:text-ink"
                      onClick={() => setTask(prompt)}
                    >
                      {prompt}
                    </button>
                  )}
                </For>
              </div>
              <Show when={problem()}>
                {(error) => (
                  <p role="alert" class="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
                    {sentenceOf(error())}
                  </p>
                )}
              </Show>
              <div class="flex justify-between">
                <Button variant="ghost" onClick={() => props.onBack()}>
                  {t('common.back')}
                </Button>
                <Button variant="primary" icon={Play} busy={isRunning()} disabled={shownTask().trim() === ''} onClick={() => void run()}>
                  {t('welcome.job.run')}
                </Button>
              </div>
            </div>
          </>
        )}
      </Show>
    )
  }
}
