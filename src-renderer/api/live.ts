import type { Message } from '../../src-runner/contract/messages.ts'
import { createStore, produce } from 'solid-js/store'
import type { LiveEvent, RecordedEvent } from '../../src-runner/contract/events.ts'

/** What a running job is doing at this moment. */
export type Progress = {
  activity: 'model' | 'tool' | 'retry_wait'
  detail: string | Message | null
  until: number | null
  since: number
}

export type Live = {
  /** null: no live event of this job has arrived. */
  progressOf: (jobId: string) => Progress | null
  takeLive: (event: LiveEvent) => void
  takeRecorded: (event: RecordedEvent) => void
  forget: () => void
}

const ENDS_PROGRESS = new Set<RecordedEvent['type']>(['job.finished', 'job.waiting', 'job.requeued'])

/** Keeps the last live event of each running job. */
export function createLive(now: () => number = () => Date.now()): Live {
  const [progress, setProgress] = createStore<Record<string, Progress>>({})
  return {
    progressOf: (jobId) => progress[jobId] ?? null,
    takeLive(event) {
      if (event.type !== 'job.progress') return
      const { jobId, activity, detail, until } = event.payload
      setProgress(jobId, { activity, detail, until, since: now() })
    },
    takeRecorded(event) {
      if (!ENDS_PROGRESS.has(event.type) || !('jobId' in event.payload)) return
      const { jobId } = event.payload
      setProgress(produce((all) => delete all[jobId]))
    },
    forget() {
      setProgress(
        produce((all) => {
          for (const jobId of Object.keys(all)) delete all[jobId]
        }),
      )
    },
  }
}
