import { A } from '@solidjs/router'
import { For, type JSX, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { compactText } from '../../../resources/locales/numbers.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import type { Loaded } from '../../api/observe.ts'
import { useChannels, useCredentials, useMcpServers, useMcpToolUse, useSkills } from '../../api/queries.ts'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'

/** Everything that an agent can reach, in one place, each with a link to where it is changed. */
export function AgentReach(props: { agent: Agent }): JSX.Element {
  const channels = useChannels(() => props.agent.id)
  const credentials = useCredentials(() => props.agent.id)
  const servers = useMcpServers(() => props.agent.id)
  const skills = useSkills(() => props.agent.id)
  const accessOf = (agents: readonly { agentId: string; access: 'read' | 'write' }[]) =>
    agents.find(({ agentId }) => agentId === props.agent.id)?.access ?? 'read'
  /** Those of the servers themselves are part of the servers. */
  const accounts = () => credentials.data?.credentials.filter(({ mcpServerId }) => mcpServerId === null) ?? []
  const may = useMay()
  const connect = () => (may('createCredential') ? t('agents.reach.connect') : null)
  const add = () => (may('createMcpServer') ? t('common.add') : null)
  const grantOf = (server: { agents: readonly { agentId: string; tokens: number }[] }) =>
    server.agents.find(({ agentId }) => agentId === props.agent.id)
  const use = useMcpToolUse(() => props.agent.id)
  const costOf = (server: Parameters<typeof grantOf>[0]) =>
    t(use.data?.onDemand === true ? 'agents.reach.toolTokens' : 'connections.mcp.perTurn', {
      tokens: compactText(grantOf(server)?.tokens ?? 0, locale()),
    })
  /** The agent does not have the others. */
  const ready = () => skills.data?.skills.filter(({ status }) => status === 'ready') ?? []
  const skillTokens = () => ready().reduce((sum, skill) => sum + skill.tokens, 0)
  return (
    <Panel title={t('agents.reach.title')} description={t('agents.reach.about')} flush>
      <dl>
        <Line label={t('agents.sections.folders')} href={`/agents/${props.agent.id}#folders`} link={t('agents.reach.change')}>
          <Show when={props.agent.folders.length > 0} fallback={<None text={t('agents.foldersNone')} />}>
            <For each={props.agent.folders}>
              {(folder) => <span class="block font-mono text-xs wrap-anywhere">{visibleText(folder)}</span>}
            </For>
          </Show>
        </Line>
        <Line label={t('agents.reach.commands')} href="/settings/tools" link={t('agents.reach.change')}>
          <Show when={props.agent.folders.length > 0} fallback={<None text={t('agents.reach.commandsNone')} />}>
            {t('agents.reach.commandsText')}
          </Show>
        </Line>
        <Line label={t('agents.reach.web')} href="/rules" link={t('agents.reach.rules')}>
          {t('agents.reach.webText')}
        </Line>
        <Line
          label={t('shell.nav.channels')}
          href={`/channels?connect=${props.agent.id}`}
          link={may('createChannel') ? t('agents.reach.connect') : null}
        >
          <Listed answer={channels} count={channels.data?.channels.length}>
            <For each={channels.data?.channels}>
              {(channel) => (
                <Item href="/channels" name={channel.name}>
                  <span class="text-ink-3">{t(`channels.kinds.${channel.kind}`)}</span>
                  <Show when={channel.status !== 'open'}>
                    <Pill tone={channel.status === 'logged_out' ? 'bad' : 'plain'}>{t(`channels.status.${channel.status}`)}</Pill>
                  </Show>
                </Item>
              )}
            </For>
          </Listed>
        </Line>
        <Line label={t('agents.reach.accounts')} href={`/connections?agent=${props.agent.id}`} link={connect()}>
          <Listed answer={credentials} count={accounts().length}>
            <For each={accounts()}>
              {(credential) => (
                <Item href={`/connections/${credential.id}`} name={credential.name}>
                  <span class="text-ink-3">{t(`connections.access.${accessOf(credential.agents)}`)}</span>
                  <Show when={credential.status === 'needs_sign_in'}>
                    <Pill tone="warn">{t('connections.status.needs_sign_in')}</Pill>
                  </Show>
                </Item>
              )}
            </For>
          </Listed>
        </Line>
        <Line label={t('agents.reach.tools')} href={`/connections?add=mcp&agent=${props.agent.id}`} link={add()}>
          <Listed answer={servers} count={servers.data?.servers.length}>
            <For each={servers.data?.servers}>
              {(server) => (
                <Item href={`/connections/mcp/${server.id}`} name={server.name}>
                  <span class="text-ink-3">{costOf(server)}</span>
                  <Show when={!server.enabled}>
                    <Pill>{t('connections.mcp.status.off')}</Pill>
                  </Show>
                </Item>
              )}
            </For>
            <Show when={use.data && use.data.tools > 0}>
              <span class="block text-xs text-ink-3">
                {t(use.data!.onDemand ? 'agents.reach.onDemand' : 'agents.reach.allTools', {
                  tokens: compactText(use.data!.tokensPerTurn, locale()),
                  all: compactText(use.data!.tokens, locale()),
                })}
              </span>
            </Show>
          </Listed>
        </Line>
        <Line label={t('agents.reach.skills')} href={`/agents/${props.agent.id}#skills`} link={t('agents.reach.change')}>
          <Listed answer={skills} count={skills.data?.skills.length}>
            <For each={skills.data?.skills}>
              {(skill) => (
                <Item href={`/skills/${skill.id}`} name={skill.name}>
                  <Show
                    when={skill.status !== 'ready'}
                    fallback={
                      <span class="text-ink-3">{t('connections.mcp.perTurn', { tokens: compactText(skill.tokens, locale()) })}</span>
                    }
                  >
                    <Pill tone={skill.status === 'changed' || skill.status === 'missing' ? 'bad' : 'warn'}>
                      {t(`skills.status.${skill.status}`)}
                    </Pill>
                  </Show>
                </Item>
              )}
            </For>
            <Show when={ready().length > 1}>
              <span class="block text-xs text-ink-3">{t('agents.reach.allSkills', { tokens: compactText(skillTokens(), locale()) })}</span>
            </Show>
          </Listed>
        </Line>
      </dl>
    </Panel>
  )
}

/** `link` null: nothing to change for this person. */
function Line(props: { label: string; href: string; link: string | null; children: JSX.Element }): JSX.Element {
  return (
    <div class="flex items-start gap-4 border-t border-line px-4 py-2 text-sm max-sm:flex-wrap max-sm:items-center max-sm:gap-y-0">
      <dt class="w-32 shrink-0 text-ink-3 max-sm:w-full">{props.label}</dt>
      <dd class="min-w-0 flex-1 text-ink">{props.children}</dd>
      <dd>
        <Show when={props.link}>
          {(link) => (
            <A href={props.href} class="inline-block text-xs text-accent-ink hover:underline" aria-label={`${link()}: ${props.label}`}>
              {link()}
            </A>
          )}
        </Show>
      </dd>
    </div>
  )
}

/** Says that there are none only once that is known. */
function Listed(props: { answer: Loaded<unknown>; count: number | undefined; children: JSX.Element }): JSX.Element {
  return (
    <Show when={props.answer.data} fallback={<AnswerState compact rows={1} answer={props.answer} />}>
      <Show when={props.count} fallback={<None text={t('agents.reach.none')} />}>
        {props.children}
      </Show>
    </Show>
  )
}

function Item(props: { href: string; name: string; children: JSX.Element }): JSX.Element {
  return (
    <span class="flex flex-wrap items-center gap-x-2">
      <A href={props.href} class="inline-block font-medium wrap-anywhere hover:underline">
        {visibleText(props.name)}
      </A>
      {props.children}
    </span>
  )
}

function None(props: { text: string }): JSX.Element {
  return <span class="text-ink-3">{props.text}</span>
}
