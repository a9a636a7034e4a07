import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { CallFacts } from '../../../src-runner/contract/rules.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { t } from '../../lib/language.ts'
import { Fold } from '../../ui/Fold.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Time } from '../../ui/Time.tsx'
import { Arguments } from './Arguments.tsx'
import { TaintList, taintNames } from './Taints.tsx'
import { OverruledFold, VerdictMark, TraceEntryText } from './DecisionTrace.tsx'

/** Everything else about a decision, folded away. */
export function ApprovalDetails(props: { approval: Approval }): JSX.Element {
  return (
    <Fold label={t('approvals.details')}>
      <div class="mt-2 flex flex-col gap-4 border-t border-line pt-3">
        <Opened approval={props.approval} />
      </div>
    </Fold>
  )
}

function Opened(props: { approval: Approval }): JSX.Element {
  const isCall = () => props.approval.kind === 'tool' || props.approval.kind === 'unknown_outcome'
  const isOpen = () => props.approval.status === 'pending'
  const mayStillRun = () => props.approval.kind === 'tool' && isOpen()
  const callLabel = () =>
    mayStillRun() ? t('approvals.call') : props.approval.kind === 'tool' ? t('approvals.callWas') : t('approvals.callAsked')
  return (
    <>
      <Show when={props.approval.kind !== 'budget'}>
        <Reason approval={props.approval} />
      </Show>
      <Show when={isCall()}>
        <section class="flex flex-col gap-1.5">
          <Label note={mayStillRun() ? t('approvals.callNote') : undefined}>{callLabel()}</Label>
          <Arguments args={props.approval.args} />
          <Show when={props.approval.facts}>{(facts) => <Effects facts={facts()} />}</Show>
        </section>
      </Show>
      <dl class="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm max-sm:grid-cols-1 max-sm:gap-y-0! max-sm:[&>dd]:mb-2">
        <Fact name={t('approvals.origin')}>
          <Origin approval={props.approval} />
        </Fact>
        <Show when={props.approval.decision}>
          {(decision) => (
            <Fact name={t('approvals.decidedBy')}>
              <span class="flex items-start gap-1.5 text-ink-2">
                <span class="mt-0.5">
                  <VerdictMark verdict={decision().verdict} />
                </span>
                <TraceEntryText entry={decision().decidedBy} />
              </span>
              <OverruledFold trace={decision().overruled} />
            </Fact>
          )}
        </Show>
        <Show when={taintNames(props.approval.taints).length > 0}>
          <Fact name={t('approvals.taintTitle')}>
            <TaintList taints={props.approval.taints} jobId={props.approval.jobId} />
          </Fact>
        </Show>
        <Fact name={t('approvals.asked')}>
          <Time at={props.approval.createdAt} class="text-ink-2" />
        </Fact>
        <Show when={isOpen()}>
          <Fact name={t('approvals.expires')}>
            <span class="text-ink-2">
              <Time at={props.approval.expiresAt} />. {t('approvals.expiresWhy')}
            </span>
          </Fact>
        </Show>
        <Show when={isCall()}>
          <Fact name={t('approvals.fingerprint')}>
            <span class="font-mono text-xs text-ink-3" title={props.approval.hash}>
              {props.approval.hash.slice(0, 12)}
            </span>
          </Fact>
        </Show>
      </dl>
    </>
  )
}

function Label(props: { note?: string; children: JSX.Element }): JSX.Element {
  return (
    <p class="flex flex-wrap items-baseline gap-x-2 text-xs">
      <span class="font-semibold text-ink-2">{props.children}</span>
      <Show when={props.note}>
        <span class="text-ink-3">{props.note}</span>
      </Show>
    </p>
  )
}

/** The agent's own words, set apart so that nobody takes them for Deckhand's. */
function Reason(props: { approval: Approval }): JSX.Element {
  return (
    <section class="flex flex-col gap-1">
      <Label note={t('approvals.reasonNote')}>{t('approvals.reason', { agent: props.approval.agentName })}</Label>
      <Show when={props.approval.reason.trim() !== ''} fallback={<p class="text-sm text-ink-3">{t('approvals.noReason')}</p>}>
        <blockquote class="scroll-quiet max-h-60 overflow-auto border-l-2 border-line-strong pl-3 text-sm wrap-anywhere whitespace-pre-wrap text-ink-2 italic">
          {visibleText(props.approval.reason.trim())}
        </blockquote>
      </Show>
    </section>
  )
}

function Effects(props: { facts: CallFacts }): JSX.Element {
  const runs = () => (props.facts.runsLater === true ? 'runsLater' : 'runsCode')
  const names = () => (['leavesMachine', 'costsMoney', 'deletes', 'overwrites', runs()] as const).filter((name) => props.facts[name])
  return (
    <>
      <Show when={names().length > 0}>
        <ul aria-label={t('approvals.effects')} class="flex flex-wrap gap-1.5">
          <For each={names()}>
            {(name) => (
              <li>
                <Pill tone="warn">{t(`approvals.effect.${name}`)}</Pill>
              </li>
            )}
          </For>
          <Show when={props.facts.sandboxed !== undefined}>
            <li>
              <Pill tone={props.facts.sandboxed ? 'ok' : 'bad'}>
                {props.facts.sandboxed ? t('approvals.effect.sandboxed') : t('approvals.effect.unsandboxed')}
              </Pill>
            </li>
          </Show>
        </ul>
      </Show>
      <Show when={props.facts.paths.length > 0}>
        <div class="text-xs text-ink-3">
          <span class="font-semibold">{t('approvals.places')}</span>
          <ul>
            <For each={props.facts.paths}>{(path) => <li class="font-mono wrap-anywhere">{visibleText(path)}</li>}</For>
          </ul>
        </div>
      </Show>
    </>
  )
}

function Fact(props: { name: string; children: JSX.Element }): JSX.Element {
  return (
    <>
      <dt class="text-ink-3">{props.name}</dt>
      <dd class="min-w-0 text-ink">{props.children}</dd>
    </>
  )
}

function Origin(props: { approval: Approval }): JSX.Element {
  return (
    <span class="wrap-anywhere text-ink-2">
      {t(`approvals.originOf.${props.approval.channel}`)}:{' '}
      <A href={`/jobs/${props.approval.jobId}`} class="text-accent-ink underline underline-offset-2">
        {visibleText(props.approval.jobTitle)}
      </A>
      <Show when={props.approval.conversationId}>
        {(conversationId) => (
          <>
            {' · '}
            <A href={`/chat/${conversationId()}`} class="text-accent-ink underline underline-offset-2">
              {t('approvals.openConversation')}
            </A>
          </>
        )}
      </Show>
    </span>
  )
}
