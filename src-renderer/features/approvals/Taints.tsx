import { A } from '@solidjs/router'
import Eye from 'lucide-solid/icons/eye'
import Globe from 'lucide-solid/icons/globe'
import ShieldAlert from 'lucide-solid/icons/shield-alert'
import { For, type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Taints } from '../../../src-runner/contract/rules.ts'
import { t } from '../../lib/language.ts'
import type { Icon } from '../../ui/icon.ts'
import { Pill } from '../../ui/Pill.tsx'
import { messageText } from '../../lib/message-text.ts'

type TaintName = keyof Taints
const NAMES: TaintName[] = ['untrusted', 'private', 'outside']
const ICONS: Record<TaintName, Icon> = { untrusted: ShieldAlert, private: Eye, outside: Globe }

export function taintNames(taints: Taints): TaintName[] {
  return NAMES.filter((name) => taints[name] !== null)
}

/** Taints are only ever added, so a job has the union of them. */
export function joinTaints(all: readonly Taints[]): Taints {
  const first = (name: TaintName) => all.find((taints) => taints[name] !== null)?.[name] ?? null
  return { untrusted: first('untrusted'), private: first('private'), outside: first('outside') }
}

export function stepHref(jobId: string, seq: number): string {
  return `/jobs/${jobId}#${stepAnchor(seq)}`
}

/** The id of a step on the page of its job. 0 stands for what started the job. */
export function stepAnchor(seq: number): string {
  return seq === 0 ? 'started-by' : `step-${seq}`
}

/** The taints of a job, each with its cause and a link to the step that added it. */
export function TaintList(props: { taints: Taints; jobId: string }): JSX.Element {
  return (
    <Show when={taintNames(props.taints).length > 0}>
      <ul class="flex flex-col gap-1">
        <For each={taintNames(props.taints)}>
          {(name) => (
            <li class="flex items-start gap-2 text-sm text-ink-2">
              <span class={`mt-0.5 shrink-0 ${name === 'untrusted' ? 'text-warn' : 'text-ink-3'}`}>
                <Dynamic component={ICONS[name]} size={14} aria-hidden="true" />
              </span>
              <span class="min-w-0 wrap-anywhere">
                <span class="text-ink">{t(`approvals.hasTaint.${name}`)}</span>
                {': '}
                {messageText(props.taints[name]!.cause)}{' '}
                <A
                  href={stepHref(props.jobId, props.taints[name]!.seq)}
                  class="whitespace-nowrap text-accent-ink underline underline-offset-2"
                >
                  {props.taints[name]!.seq === 0
                    ? t('approvals.taintFromStart')
                    : t('approvals.taintAtStep', { step: props.taints[name]!.seq })}
                </A>
              </span>
            </li>
          )}
        </For>
      </ul>
    </Show>
  )
}

/** One pill for each taint of a job, with the cause on hover. */
export function TaintPills(props: { taints: Taints; jobId: string }): JSX.Element {
  return (
    <For each={taintNames(props.taints)}>
      {(name) => (
        <A
          href={stepHref(props.jobId, props.taints[name]!.seq)}
          title={`${t(`approvals.hasTaint.${name}`)}: ${messageText(props.taints[name]!.cause)}`}
          class="rounded-full"
        >
          <Pill tone={name === 'untrusted' ? 'warn' : 'plain'}>
            <Dynamic component={ICONS[name]} size={12} aria-hidden="true" />
            {t(`approvals.taint.${name}`)}
          </Pill>
        </A>
      )}
    </For>
  )
}
