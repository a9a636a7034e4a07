import OctagonX from 'lucide-solid/icons/octagon-x'
import { createSignal, type JSX, Show } from 'solid-js'
import { useUpdateSettings } from '../api/mutations.ts'
import { sentenceOf } from '../api/problem.ts'
import { useJobCounts, useSettings } from '../api/queries.ts'
import { words } from '../kit/words/words.ts'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx'
import { toast } from '../ui/Toasts.tsx'

/** The emergency brake: pulled at once, released only after a question. */
export type Brake = { isOn: () => boolean; isKnown: () => boolean; pull: () => void; release: () => Promise<unknown> }

export function useBrake(): Brake {
  const settings = useSettings()
  const change = useUpdateSettings()
  return {
    isOn: () => settings.data?.settings.brake === true,
    isKnown: () => settings.data !== undefined,
    pull: () => void change.run({ body: { brake: true } }).catch((thrown: unknown) => toast({ tone: 'bad', text: sentenceOf(thrown) })),
    release: () => change.run({ body: { brake: false } }),
  }
}

/** In sight on every screen. While the brake is on, the banner says so and this is gone. */
export function BrakeButton(props: { class: string; onPulled?: () => void }): JSX.Element {
  const brake = useBrake()
  return (
    <Show when={brake.isKnown() && !brake.isOn()}>
      <button
        type="button"
        title={words().shell.brake.pullWhy}
        class={props.class}
        onClick={() => {
          brake.pull()
          props.onPulled?.()
        }}
      >
        <OctagonX size={16} class="shrink-0 text-bad" aria-hidden="true" />
        {words().shell.brake.pull}
      </button>
    </Show>
  )
}

/** The red line above everything while the brake is on. */
export function BrakeBanner(): JSX.Element {
  const brake = useBrake()
  return <Show when={brake.isOn()}>{<PulledBrake brake={brake} />}</Show>
}

function PulledBrake(props: { brake: Brake }): JSX.Element {
  const text = () => words().shell.brake
  const counts = useJobCounts()
  const [isAsking, setAsking] = createSignal(false)
  const waiting = () => counts.data?.pending ?? 0
  return (
    <div class="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 bg-bad-solid px-4 py-2 text-on-bad">
      <OctagonX size={16} class="shrink-0" aria-hidden="true" />
      <p role="status" class="min-w-48 flex-1 text-sm">
        <span class="font-semibold">{text().on}</span> {text().onText}
      </p>
      <Button size="sm" onClick={() => setAsking(true)}>
        {text().release}
      </Button>
      <ConfirmDialog
        open={isAsking()}
        onClose={() => setAsking(false)}
        title={text().releaseTitle}
        confirm={text().releaseNow}
        onConfirm={() => props.brake.release()}
        describeError={sentenceOf}
      >
        <p>{text().releaseText}</p>
        <Show when={waiting() > 0}>
          <p class="mt-2">{text().releaseWaiting(waiting())}</p>
        </Show>
      </ConfirmDialog>
    </div>
  )
}
