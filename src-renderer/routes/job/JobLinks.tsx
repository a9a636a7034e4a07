import { A } from '@solidjs/router'
import { For } from 'solid-js'
import type { Job } from '../../../src-runner/contract/jobs.ts'
import { t } from '../../lib/language.ts'

/** The jobs that this one comes from, or led to. */
export function JobLinks(props: { job: Job }) {
  const links = () =>
    [
      { id: props.job.retryOfJobId, text: t('job.retryOf'), open: t('job.openOriginal') },
      { id: props.job.retriedByJobId, text: t('job.retriedBy'), open: t('job.openRetry') },
      { id: props.job.parentJobId, text: t('common.channel.delegation'), open: t('job.openParent') },
    ].filter((link): link is { id: string; text: string; open: string } => link.id !== null)
  return (
    <For each={links()}>
      {(link) => (
        <p class="flex flex-wrap items-center gap-x-3 rounded-lg bg-accent-soft px-3.5 py-2 text-sm text-accent-ink">
          {link.text}
          <A href={`/jobs/${link.id}`} class="font-medium underline underline-offset-2">
            {link.open}
          </A>
        </p>
      )}
    </For>
  )
}
