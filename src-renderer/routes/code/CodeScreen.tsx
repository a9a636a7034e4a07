import { useNavigate, useSearchParams } from '@solidjs/router'
import GitBranch from 'lucide-solid/icons/git-branch'
import Plus from 'lucide-solid/icons/plus'
import { type JSX, Show } from 'solid-js'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useCodeTasks } from '../../api/queries.ts'
import { useMay } from '../../api/may.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { VirtualList } from '../../ui/VirtualList.tsx'
import { CodeTaskRow, ROW_HEIGHT } from './CodeTaskRow.tsx'
import { NewCodeTaskDialog } from './NewCodeTaskDialog.tsx'

type Search = { new?: string; agent?: string; folder?: string }

/** The tasks of coding programs, newest first, and the dialog for a new one. */
export function CodeScreen(): JSX.Element {
  // In the URL, so that the palette and an agent's page can lead to the dialog, and a reload keeps it.
  const [search, setSearch] = useSearchParams<Search>()
  const navigate = useNavigate()
  const tasks = useCodeTasks()
  const agents = useAgents()
  const may = useMay()
  const mayStart = () => may('createCodeTask')
  const hasAgents = () => (agents.data?.agents.length ?? 0) > 0
  const close = () => setSearch({ new: undefined, agent: undefined, folder: undefined }, { replace: true })
  const create = () => setSearch({ new: '1' })
  return (
    <div class="flex h-full min-h-0 flex-col">
      <div class="mx-auto w-full max-w-5xl px-8 pt-7 max-md:px-4 max-md:pt-5">
        <PageHeader
          title={t('code.title')}
          description={t('code.about')}
          isLong
          actions={
            <Show when={mayStart() && tasks.items.length > 0 && hasAgents()}>
              <Button variant="primary" icon={Plus} onClick={create}>
                {t('code.new')}
              </Button>
            </Show>
          }
        />
      </div>
      <div class="mx-auto flex min-h-0 w-full max-w-5xl flex-1 flex-col px-8 max-md:px-4">
        <Show
          when={tasks.items.length > 0}
          fallback={
            <NothingYet answer={tasks} rows={6}>
              <EmptyState
                icon={GitBranch}
                title={t('code.empty')}
                action={
                  <Show when={mayStart()}>
                    <Show
                      when={hasAgents()}
                      fallback={
                        <ButtonLink variant="primary" icon={Plus} href="/agents/new">
                          {t('home.composer.createAgent')}
                        </ButtonLink>
                      }
                    >
                      <Button variant="primary" icon={Plus} onClick={create}>
                        {t('code.new')}
                      </Button>
                    </Show>
                  </Show>
                }
              >
                {mayStart() ? t('code.emptyWhy') : t('code.emptyMember')}
              </EmptyState>
            </NothingYet>
          }
        >
          <VirtualList
            class="mb-4 min-h-0 flex-initial rounded-xl border border-line bg-surface"
            label={t('code.list')}
            items={tasks.items}
            keyOf={(task) => task.jobId}
            rowHeight={ROW_HEIGHT}
            row={(task, isActive) => <CodeTaskRow task={task} isActive={isActive()} />}
            onOpen={(task) => navigate(`/jobs/${task.jobId}`)}
            onMore={tasks.more}
            hasMore={tasks.hasMore}
            isLoadingMore={tasks.isLoadingMore}
          />
        </Show>
      </div>
      <Show when={search.new !== undefined && mayStart() && hasAgents() && agents.data}>
        {(data) => (
          <NewCodeTaskDialog
            agents={data().agents}
            agentId={search.agent}
            folder={search.folder}
            onClose={close}
            onStarted={(jobId) => navigate(`/jobs/${jobId}`)}
          />
        )}
      </Show>
    </div>
  )
}
