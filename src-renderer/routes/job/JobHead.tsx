import { useNavigate } from '@solidjs/router'
import BookOpen from 'lucide-solid/icons/book-open'
import Braces from 'lucide-solid/icons/braces'
import MessageSquare from 'lucide-solid/icons/message-square'
import RotateCcw from 'lucide-solid/icons/rotate-ccw'
import CircleStop from 'lucide-solid/icons/circle-stop'
import { type JSX, Show } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { WrittenFile } from '../../../src-runner/contract/files.ts'
import { type Job, isTerminal } from '../../../src-runner/contract/jobs.ts'
import type { RecordedDecision } from '../../../src-runner/contract/rules.ts'
import { ApiError } from '../../api/client.ts'
import { useAction, useCancelJob } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import type { FollowedTurn } from '../../features/chat-turn/use-turn.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { tryToCopy } from '../../ui/copy.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { StatusBadge } from '../../ui/StatusBadge.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** What the page shows of a job besides the job and its steps. What is not loaded is left out. */
export type JobRecord = {
  approvals: readonly Approval[] | undefined
  decisions: readonly RecordedDecision[] | undefined
  files: readonly WrittenFile[] | undefined
}

/** The name of a job, its state, and what a person can do with it. */
export function JobHead(props: { job: Job; work: FollowedTurn; record: JobRecord; taints: JSX.Element }) {
  const desktop = useDesktop()
  const cancel = useCancelJob()
  const stop = async () => {
    try {
      await cancel.run({ params: { jobId: props.job.id } })
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.code === 'job_already_finished')) toastError(thrown)
    }
  }
  const copyJson = async () => {
    const json = JSON.stringify({ job: props.job, steps: props.work.state().steps, ...props.record }, null, 2)
    if (await tryToCopy(() => desktop.copyText(json))) toast({ text: t('job.copiedJson') })
  }
  return (
    <header class="flex flex-wrap items-start gap-x-4 gap-y-3">
      <div class="min-w-0 flex-1 basis-72">
        <h1 class="text-xl font-semibold tracking-tight wrap-anywhere text-ink">{props.job.title}</h1>
        <div class="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
          <StatusBadge status={props.job.status} stopping={props.job.cancelRequested && !isTerminal(props.job.status)} />
          {props.taints}
          <Time at={props.job.createdAt} />
          <span class="inline-flex items-center gap-0.5">
            <span class="font-mono text-2xs" title={props.job.id}>
              {props.job.id.slice(-8)}
            </span>
            <CopyButton text={props.job.id} copy={desktop.copyText} label={t('job.copyId')} size="sm" />
          </span>
        </div>
      </div>
      <div class="flex flex-wrap items-center gap-2">
        <Show when={props.job.conversationId}>
          {(conversationId) => (
            <ButtonLink icon={MessageSquare} href={`/chat/${conversationId()}`}>
              {t('job.openConversation')}
            </ButtonLink>
          )}
        </Show>
        <Button icon={Braces} onClick={() => void copyJson()}>
          {t('job.copyJson')}
        </Button>
        <Show when={isTerminal(props.job.status)}>
          <SkillButton job={props.job} />
          <RetryButton job={props.job} />
        </Show>
        <Show when={!isTerminal(props.job.status)}>
          <Button variant="danger" icon={CircleStop} disabled={props.job.cancelRequested} onClick={() => void stop()}>
            {props.job.cancelRequested ? t('job.stopping') : t('job.stop')}
          </Button>
        </Show>
      </div>
    </header>
  )
}

/** Lets the agent write a skill from what it did. For the job that writes one, it leads to the draft. */
function SkillButton(props: { job: Job }) {
  const navigate = useNavigate()
  const draft = useAction('draftSkill')
  const run = async () => {
    try {
      const { jobId } = await draft.run({ params: { jobId: props.job.id } })
      navigate(`/skills/new?draft=${jobId}`)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Show
      when={props.job.context?.['skillOfJobId'] === undefined}
      fallback={
        <ButtonLink icon={BookOpen} href={`/skills/new?draft=${props.job.id}`}>
          {t('job.openSkillDraft')}
        </ButtonLink>
      }
    >
      <Show when={props.job.status === 'completed'}>
        <Button icon={BookOpen} busy={draft.isRunning} title={t('job.makeSkillWhy')} onClick={() => void run()}>
          {t('job.makeSkill')}
        </Button>
      </Show>
    </Show>
  )
}

export function RetryButton(props: { job: Job; size?: 'sm' }) {
  const navigate = useNavigate()
  const retry = useAction('retryJob')
  const run = async () => {
    try {
      const { job } = await retry.run({ params: { jobId: props.job.id } })
      navigate(`/jobs/${job.id}`)
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <Button size={props.size} icon={RotateCcw} busy={retry.isRunning} title={t('job.retryWhy')} onClick={() => void run()}>
      {t('job.retry')}
    </Button>
  )
}
