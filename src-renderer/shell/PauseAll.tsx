import OctagonX from 'lucide-solid/icons/octagon-x'
import { createSignal, type JSX, Show } from 'solid-js'
import { useSetPauseAll } from '../api/mutations.ts'
import { sentenceOf } from '../api/problem.ts'
import { useJobCounts, useSettings } from '../api/queries.ts'
import { toastError } from '../api/toast-error.ts'
import { t } from '../lib/language.ts'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx'

/** Pausing takes effect at once; resuming asks first. */
export type PauseAll = { isOn: () => boolean; isKnown: () => boolean; pause: () => void; resume: () => Promise<unknown> }

export function usePauseAll(): PauseAll {
  const settings = useSettings()
  const change = useSetPauseAll()
  return {
    isOn: () => settings.data?.settings.pauseAll === true,
    isKnown: () => settings.data !== undefined,
    pause: () => void change.run({ body: { pauseAll: true } }).catch(toastError),
    resume: () => change.run({ body: { pauseAll: false } }),
  }
}

/** Visible on every screen, except while pause all is on: then the banner says so. */
export function PauseAllButton(props: { class: string; onPaused?: () => void }): JSX.Element {
  const pauseAll = usePauseAll()
  return (
    <Show when={pauseAll.isKnown() && !pauseAll.isOn()}>
      <button
        type="button"
        title={t('shell.pauseAll.pauseWhy')}
        class={`text-left ${props.class}`}
        onClick={() => {
          pauseAll.pause()
          props.onPaused?.()
        }}
      >
        <OctagonX size={16} class="shrink-0 text-bad" aria-hidden="true" />
        {t('shell.pauseAll.pause')}
      </button>
    </Show>
  )
}

/** The red bar above everything while pause all is on. */
export function PauseAllBanner(): JSX.Element {
  const pauseAll = usePauseAll()
  return <Show when={pauseAll.isOn()}>{<PausedAll pauseAll={pauseAll} />}</Show>
}

function PausedAll(props: { pauseAll: PauseAll }): JSX.Element {
  const counts = useJobCounts()
  const [isAsking, setAsking] = createSignal(false)
  const waiting = () => counts.data?.pending ?? 0
  return (
    <div class="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 bg-bad-solid px-4 py-2 text-on-bad">
      <OctagonX size={16} class="shrink-0" aria-hidden="true" />
      <p role="status" class="min-w-48 flex-1 text-sm">
        <span class="font-semibold">{t('shell.pauseAll.on')}</span> {t('shell.pauseAll.onText')}
      </p>
      <Button size="sm" onClick={() => setAsking(true)}>
        {t('shell.pauseAll.resume')}
      </Button>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={t('shell.pauseAll.resumeTitle')}
        confirm={t('shell.pauseAll.resumeNow')}
        onConfirm={() => props.pauseAll.resume()}
        describeError={sentenceOf}
      >
        <p>{t('shell.pauseAll.resumeText')}</p>
        <Show when={waiting() > 0}>
          <p class="mt-2">{t('shell.pauseAll.resumeWaiting', { count: waiting() })}</p>
        </Show>
      </ConfirmDialog>
    </div>
  )
}
