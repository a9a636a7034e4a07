import CircleCheck from 'lucide-solid/icons/circle-check'
import CircleX from 'lucide-solid/icons/circle-x'
import TriangleAlert from 'lucide-solid/icons/triangle-alert'
import { For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { HealthCheck } from '../../../src-runner/contract/doctor.ts'
import { problemOf } from '../../api/problem.ts'
import { useDoctor } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import type { Icon } from '../../ui/icon.ts'
import { Panel } from '../../ui/Panel.tsx'

const LOOKS: Record<HealthCheck['state'], { icon: Icon; tone: string }> = {
  ok: { icon: CircleCheck, tone: 'text-ok' },
  warning: { icon: TriangleAlert, tone: 'text-warn' },
  problem: { icon: CircleX, tone: 'text-bad' },
}

/** The screen on which a problem can be fixed, if it is another one. */
const PLACES: Partial<Record<HealthCheck['name'], { href: string; label: () => string }>> = {
  backups: { href: '/settings/computer#backups', label: () => t('settings.backups.title') },
  models: { href: '/models', label: () => t('shell.nav.models') },
  schedules: { href: '/automations/schedules', label: () => t('automations.schedules') },
  channels: { href: '/channels', label: () => t('shell.nav.channels') },
  public_address: { href: '/settings/webhooks', label: () => t('settings.outside.title') },
}

const ORDER: readonly HealthCheck['state'][] = ['problem', 'warning', 'ok']

/** The health checks, each with its result and fix. */
export function HealthChecks(): JSX.Element {
  const answer = useDoctor()
  return (
    <div id="checks" class="scroll-mt-6 rounded-xl outline-offset-4">
      <Panel
        title={t('settings.healthCheck.title')}
        description={t('settings.healthCheck.about')}
        flush
        actions={
          <Button size="sm" onClick={() => answer.retry()}>
            {t('settings.healthCheck.again')}
          </Button>
        }
      >
        <Show
          when={answer.data}
          fallback={
            <Show when={answer.error}>
              <div class="p-4">
                <ErrorState compact problem={problemOf(answer.error)} onRetry={answer.retry} />
              </div>
            </Show>
          }
        >
          {(data) => (
            <ul class="pb-2">
              <For each={data().checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))}>
                {(check) => (
                  <li class="flex items-start gap-3 px-4 py-1.5">
                    <span class={`mt-0.5 shrink-0 ${LOOKS[check.state].tone}`}>
                      <Dynamic component={LOOKS[check.state].icon} size={16} aria-hidden="true" />
                      <span class="sr-only">{t(`settings.healthCheck.states.${check.state}`)}: </span>
                    </span>
                    <div class="flex min-w-0 flex-1 flex-wrap items-start gap-x-3 gap-y-1.5">
                      <div class="min-w-60 flex-1 text-sm">
                        <p>
                          <span class="font-medium text-ink">{t(`settings.healthCheck.names.${check.name}`)}</span>{' '}
                          <span class="wrap-anywhere text-ink-2">{messageText(check.finding)}</span>
                        </p>
                        <Show when={check.fix}>
                          <p class="text-xs wrap-anywhere text-ink-3">{messageText(check.fix)}</p>
                        </Show>
                      </div>
                      <Show when={check.state !== 'ok' && PLACES[check.name]}>
                        {(place) => (
                          <ButtonLink size="sm" href={place().href}>
                            {place().label()}
                          </ButtonLink>
                        )}
                      </Show>
                    </div>
                  </li>
                )}
              </For>
            </ul>
          )}
        </Show>
      </Panel>
    </div>
  )
}
