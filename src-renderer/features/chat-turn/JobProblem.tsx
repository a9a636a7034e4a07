import type { Job, JobSummary } from '../../../src-runner/contract/jobs.ts'
import { JobErrorCode } from '../../../src-runner/contract/errors.ts'
import { type JSX, Show } from 'solid-js'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'

type Fix = { label: string; href: string }

const MODEL_TROUBLE = new Set<string>(['agent_has_no_model', 'model_auth', 'model_unavailable'])
const AGENT_TROUBLE = new Set<string>(['model_not_found', 'model_context_too_long'])
const LIMITS = new Set<string>(['turn_limit', 'cost_limit', 'time_limit', 'tool_call_limit'])

/** The page on which the cause of a failed job can be fixed, or null. */
export function fixFor(code: string | null, agentId: string): Fix | null {
  if (code === null) return null
  if (MODEL_TROUBLE.has(code)) return { label: t('job.fix.models'), href: '/models' }
  if (AGENT_TROUBLE.has(code)) return { label: t('job.fix.agent'), href: `/agents/${agentId}` }
  if (LIMITS.has(code)) return { label: t('job.fix.limits'), href: `/agents/${agentId}` }
  return null
}

/** Why a job failed, and what to do about it. */
export function JobProblem(props: {
  job: Pick<Job | JobSummary, 'error' | 'errorMessage' | 'agentId'>
  actions?: JSX.Element
  compact?: boolean
}) {
  const why = () => {
    const known = JobErrorCode.safeParse(props.job.error)
    const sentence = known.success ? t(`common.jobError.${known.data}`) : null
    const detail = messageText(props.job.errorMessage)
    return [...new Set([sentence, detail])].filter((text) => text !== null && text !== '').join(' ') || t('common.error.internalWhy')
  }
  return (
    <ErrorState
      compact={props.compact}
      problem={{ title: t('job.failedTitle'), why: why(), code: props.job.error ?? undefined }}
      actions={
        <>
          {props.actions}
          <Show when={fixFor(props.job.error, props.job.agentId)}>
            {(fix) => (
              <ButtonLink href={fix().href} size="sm" variant="ghost">
                {fix().label}
              </ButtonLink>
            )}
          </Show>
        </>
      }
    />
  )
}
