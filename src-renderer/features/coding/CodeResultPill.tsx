import { type JSX, Show } from 'solid-js'
import type { CodeTask } from '../../../src-runner/contract/code-tasks.ts'
import { isTerminal } from '../../../src-runner/contract/jobs.ts'
import { t } from '../../lib/language.ts'
import { Pill } from '../../ui/Pill.tsx'

type Ended = Pick<CodeTask, 'jobStatus' | 'result'>

const TONES = { none: 'plain', ready: 'accent', applied: 'ok', discarded: 'plain' } as const

/** What became of the changes, once the job is over. A job that failed without a change only failed. */
export function CodeResultPill(props: { task: Ended }): JSX.Element {
  const isShown = () => isTerminal(props.task.jobStatus) && (props.task.result !== 'none' || props.task.jobStatus === 'completed')
  return (
    <Show when={isShown()}>
      <Pill tone={TONES[props.task.result]}>{t(`code.result.${props.task.result}`)}</Pill>
    </Show>
  )
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.split(/[\\/]+/).findLast((part) => part !== '') ?? path
}
