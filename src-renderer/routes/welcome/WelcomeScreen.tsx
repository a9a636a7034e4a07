import { useNavigate, useSearchParams } from '@solidjs/router'
import Check from 'lucide-solid/icons/check'
import { For, Match, Show, Switch } from 'solid-js'
import type { Settings } from '../../../src-runner/contract/settings.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { problemOf } from '../../api/problem.ts'
import { useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Mark } from '../../ui/Mark.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { AgentStep } from './AgentStep.tsx'
import { JobStep } from './JobStep.tsx'
import { ModelStep } from './ModelStep.tsx'

const STEPS = ['model', 'agent', 'job'] as const
type Step = (typeof STEPS)[number]

/**
 * The first start. The runner stores the step, so it resumes after a restart. The URL has the step and the first job, so it
 * survives a reload.
 */
export function WelcomeScreen() {
  const [search, setSearch] = useSearchParams<{ step?: string; job?: string }>()
  const settings = useSettings()
  const change = useUpdateSettings()
  const navigate = useNavigate()
  const step = (): Step => {
    const remembered = settings.data?.settings.firstStart
    return (
      STEPS.find((one) => one === search.step) ?? STEPS.find((one) => one === remembered) ?? (search.job === undefined ? 'model' : 'job')
    )
  }
  const remember = (firstStart: Settings['firstStart']) => change.run({ body: { firstStart } }).catch(toastError)
  const goTo = (next: Step) => {
    void remember(next)
    setSearch({ step: next, job: undefined })
  }
  const leave = async () => {
    await remember('done')
    navigate('/')
  }

  return (
    <div class="scroll-quiet h-full overflow-y-auto">
      <div class="mx-auto flex min-h-full w-full max-w-2xl flex-col px-6 pt-8 pb-6 max-sm:px-4 max-sm:pt-5">
        <header class="mb-6 flex min-h-9 items-center gap-3 max-sm:mb-3">
          <Mark size={26} />
          <StepBar at={step()} />
          <Show when={search.job === undefined}>
            <Button variant="ghost" size="sm" class="ml-auto" onClick={() => void leave()}>
              {t('welcome.skip')}
            </Button>
          </Show>
        </header>
        <Show
          when={settings.data}
          fallback={
            <Show when={settings.error} fallback={<Skeleton rows={4} />}>
              <ErrorState problem={problemOf(settings.error)} onRetry={settings.retry} />
            </Show>
          }
        >
          <Switch>
            <Match when={step() === 'model'}>
              <ModelStep onDone={() => goTo('agent')} />
            </Match>
            <Match when={step() === 'agent'}>
              <AgentStep onDone={() => goTo('job')} onBack={() => goTo('model')} />
            </Match>
            <Match when={step() === 'job'}>
              <JobStep
                jobId={search.job ?? null}
                onJob={(jobId) => {
                  // The first job has started, so the first start counts as done.
                  void remember('done')
                  setSearch({ step: 'job', job: jobId ?? undefined })
                }}
                onBack={() => goTo('agent')}
              />
            </Match>
          </Switch>
        </Show>
      </div>
    </div>
  )
}

function StepBar(props: { at: Step }) {
  const index = () => STEPS.indexOf(props.at)
  return (
    <ol class="flex h-7 items-center gap-2 text-xs" aria-label={t('welcome.step', { at: index() + 1, of: STEPS.length })}>
      <For each={STEPS}>
        {(step, i) => (
          <li class="flex items-center gap-2" aria-current={i() === index() ? 'step' : undefined}>
            <Show when={i() > 0}>
              <span class="h-px w-5 bg-line-strong max-sm:w-2" aria-hidden="true" />
            </Show>
            <span
              class={`flex size-5 items-center justify-center rounded-full text-2xs font-semibold ${
                i() < index()
                  ? 'bg-accent-soft text-accent-ink'
                  : i() === index()
                    ? 'bg-accent text-on-accent'
                    : 'border border-line-strong text-ink-3'
              }`}
              aria-hidden="true"
            >
              <Show when={i() < index()} fallback={i() + 1}>
                <Check size={11} stroke-width={3} />
              </Show>
            </span>
            <span class={i() === index() ? 'font-medium text-ink' : 'text-ink-3 max-sm:sr-only'}>{t(`welcome.steps.${step}`)}</span>
          </li>
        )}
      </For>
    </ol>
  )
}
