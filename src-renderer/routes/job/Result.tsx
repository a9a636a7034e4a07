import { For, Show } from 'solid-js'
import type { Job, JobOutput } from '../../../src-runner/contract/jobs.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { RawText, rawTextOf } from '../../features/chat-turn/RawText.tsx'
import { ReplyText } from '../../features/chat-turn/ReplyText.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

/** What a job returned, or had written when it ended. */
export function Result(props: { job: Job }) {
  const desktop = useDesktop()
  const isComplete = () => props.job.status === 'completed'
  return (
    <Panel
      title={isComplete() ? t('job.result') : t('job.soFar')}
      actions={
        <span class="flex items-center gap-2">
          <Show when={!isComplete() && props.job.result}>
            <Pill tone="warn">{t('turn.interrupted')}</Pill>
          </Show>
          <Show when={props.job.result}>{(result) => <CopyButton text={() => result()} copy={desktop.copyText} size="sm" />}</Show>
        </span>
      }
    >
      <Show when={props.job.result} fallback={<p class="text-sm text-ink-3">{t('job.noResult')}</p>}>
        {(result) => <ReplyText text={result()} />}
      </Show>
      <Show when={props.job.output}>{(output) => <Output output={output()} isRepeated={output().summary === props.job.result} />}</Show>
    </Panel>
  )
}

/** The structured result: its summary, data and files. */
function Output(props: { output: JobOutput; isRepeated: boolean }) {
  return (
    <div class="mt-4 flex flex-col gap-3 border-t border-line pt-3">
      <Show when={!props.isRepeated && props.output.summary !== ''}>
        <ReplyText text={props.output.summary} />
      </Show>
      <Show when={props.output.data !== null && props.output.data !== undefined}>
        <RawText label={t('job.outputData')} text={rawTextOf(props.output.data)} />
      </Show>
      <Show when={props.output.files.length > 0}>
        <div class="text-xs text-ink-3">
          <span class="font-semibold">{t('job.outputFiles')}</span>
          <ul>
            <For each={props.output.files}>{(path) => <li class="font-mono wrap-anywhere text-ink-2">{visibleText(path)}</li>}</For>
          </ul>
        </div>
      </Show>
    </div>
  )
}
