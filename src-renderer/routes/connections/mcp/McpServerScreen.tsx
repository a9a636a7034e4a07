import { useParams } from '@solidjs/router'
import { createEffect, createSignal, type JSX, on, Show } from 'solid-js'
import type { McpServer } from '../../../../src-runner/contract/mcp.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { toastError } from '../../../api/toast-error.ts'
import { useMcpServer, useSandbox } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { messageText } from '../../../lib/message-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Screen } from '../../../ui/Screen.tsx'
import { Switch } from '../../../ui/Switch.tsx'
import { toast } from '../../../ui/Toasts.tsx'
import { BackLink } from '../../../ui/BackLink.tsx'
import { isUnknown } from '../connection.ts'
import { EditServerDialog } from './EditServerDialog.tsx'
import { ServerAgents } from './ServerAgents.tsx'
import { ServerHead } from './ServerHead.tsx'
import { ServerLog } from './ServerLog.tsx'
import { ServerSignIn } from './ServerSignIn.tsx'
import { ToolsPanel } from './ToolsPanel.tsx'
import { WhatRuns } from './WhatRuns.tsx'

/** `/connections/mcp/<id>`: one MCP server. */
export function McpServerScreen(): JSX.Element {
  const params = useParams<{ mcpServerId: string }>()
  const answer = useMcpServer(() => params.mcpServerId)
  const server = () => (answer.data?.server.id === params.mcpServerId ? answer.data.server : null)
  return (
    <Screen width="narrow">
      <BackLink href="/connections">{t('connections.title')}</BackLink>
      <Show
        when={server()}
        fallback={
          <>
            <h1 class="sr-only">{t('connections.title')}</h1>
            <AnswerState answer={answer} missing={{ title: t('connections.mcp.gone'), why: t('connections.goneWhy') }} />
          </>
        }
      >
        {(one) => <Server server={one()} />}
      </Show>
    </Screen>
  )
}

function Server(props: { server: McpServer }): JSX.Element {
  const test = useAction('testMcpServer')
  const sandbox = useSandbox()
  const change = useAction('updateMcpServer')
  const may = useMay()
  const [isEditing, setEditing] = createSignal(false)
  const [problem, setProblem] = createSignal<string | null>(null)
  // What another program did says nothing about this one.
  createEffect(
    on(
      () => JSON.stringify(props.server.transport),
      () => setProblem(null),
      { defer: true },
    ),
  )
  const isProgram = () => props.server.transport.kind === 'stdio'
  const runTest = async () => {
    setProblem(null)
    try {
      const { ok, message } = await test.run({ params: { mcpServerId: props.server.id } })
      if (!ok) setProblem(messageText(message) || t('connections.testFailed'))
      else if (!isUnknown(props.server)) toast({ text: t('connections.testOk') })
    } catch (thrown) {
      setProblem(sentenceOf(thrown))
    }
  }
  return (
    <>
      <ServerHead server={props.server} isTesting={test.isRunning} onTest={() => void runTest()} onEdit={() => setEditing(true)} />
      <div class="flex flex-col gap-4">
        <Show when={problem() ?? messageText(props.server.problem)}>
          {(text) => (
            <p role="alert" class="rounded-lg bg-bad-soft px-4 py-3 text-sm wrap-anywhere text-bad">
              {text()}
            </p>
          )}
        </Show>
        <ServerSignIn server={props.server} />
        <Show
          when={!isUnknown(props.server)}
          fallback={
            <Panel title={t(isProgram() ? 'connections.mcp.first.program' : 'connections.mcp.first.remote')}>
              <WhatRuns transport={props.server.transport} />
              <p class="mt-3 text-xs text-ink-3">
                {t(`connections.mcp.first.${firstWhy(props.server, sandbox.data?.sandbox.works === false)}`)}
              </p>
              <Show when={may('updateMcpServer')}>
                <div class="mt-3 flex flex-wrap gap-2">
                  <Button variant="primary" busy={test.isRunning} disabled={!props.server.enabled} onClick={() => void runTest()}>
                    {t(isProgram() ? 'connections.mcp.first.start' : 'connections.mcp.first.connect')}
                  </Button>
                  <Button onClick={() => setEditing(true)}>{t('common.edit')}</Button>
                </div>
              </Show>
            </Panel>
          }
        >
          <ToolsPanel server={props.server} />
        </Show>
        <ServerAgents server={props.server} />
        <Show when={!isUnknown(props.server)}>
          <Panel
            title={t(isProgram() ? 'connections.mcp.runs.title' : 'connections.mcp.runs.remoteTitle')}
            actions={
              <Show when={may('updateMcpServer')}>
                <Button size="sm" onClick={() => setEditing(true)}>
                  {t('common.edit')}
                </Button>
              </Show>
            }
          >
            <WhatRuns transport={props.server.transport} />
            <div class="mt-4 border-t border-line pt-3">
              <Switch
                label={t('connections.mcp.runs.mayAskModel')}
                hint={t('connections.mcp.runs.mayAskModelWhy')}
                checked={props.server.mayAskModel}
                disabled={change.isRunning || !may('updateMcpServer')}
                onChecked={(mayAskModel) =>
                  void change.run({ params: { mcpServerId: props.server.id }, body: { mayAskModel } }).catch(toastError)
                }
              />
            </div>
          </Panel>
        </Show>
        <Show when={may('readMcpServerLog')}>
          <ServerLog mcpServerId={props.server.id} />
        </Show>
      </div>
      <Show when={isEditing()}>
        <EditServerDialog server={props.server} onClose={() => setEditing(false)} />
      </Show>
    </>
  )
}

function firstWhy({ transport }: McpServer, lacksSandbox: boolean): 'programWhy' | 'openWhy' | 'blockedWhy' | 'remoteWhy' {
  if (transport.kind !== 'stdio') return 'remoteWhy'
  if (transport.allowsUnsandboxed) return 'openWhy'
  return lacksSandbox ? 'blockedWhy' : 'programWhy'
}
