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
import { causeText } from './policy-text.ts'

type MarkName = keyof Taints
const NAMES: MarkName[] = ['untrusted', 'private', 'outside']
const ICONS: Record<MarkName, Icon> = { untrusted: ShieldAlert, private: Eye, outside: Globe }

export function taintNames(taints: Taints): MarkName[] {
  return NAMES.filter((name) => taints[name] !== null)
}

/** Taints are only ever added, so the union is how a job stands. */
export function joinTaints(all: readonly Taints[]): Taints {
  const first = (name: MarkName) => all.find((taints) => taints[name] !== null)?.[name] ?? null
  return { untrusted: first('untrusted'), private: first('private'), outside: first('outside') }
}

export function stepHref(jobId: string, seq: number): string {
  return `/jobs/${jobId}#${stepAnchor(seq)}`
}

/** The id of a step on the page of its job; 0 is what started it. */
export function stepAnchor(seq: number): string {
  return seq === 0 ? 'started-by' : `step-${seq}`
}

/** What the job has seen and done so far, each with its cause and the way to it. */
export function MarksList(props: { taints: Taints; jobId: string }): JSX.Element {
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
                {causeText(props.taints[name]!)}{' '}
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

/** The same as a word each, for a head; the cause on hover. */
export function TaintPills(props: { taints: Taints; jobId: string }): JSX.Element {
  return (
    <For each={taintNames(props.taints)}>
      {(name) => (
        <A
          href={stepHref(props.jobId, props.taints[name]!.seq)}
          title={`${t(`approvals.hasTaint.${name}`)}: ${causeText(props.taints[name]!)}`}
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
