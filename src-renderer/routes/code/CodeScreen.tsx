import { useNavigate } from '@solidjs/router'
import GitBranch from 'lucide-solid/icons/git-branch'
import { type JSX, Show } from 'solid-js'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useCodeTasks } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { VirtualList } from '../../ui/VirtualList.tsx'
import { CodeTaskRow, ROW_HEIGHT } from './CodeTaskRow.tsx'

/** The tasks of coding programs, newest first. */
export function CodeScreen(): JSX.Element {
  const navigate = useNavigate()
  const tasks = useCodeTasks()
  return (
    <div class="flex h-full min-h-0 flex-col">
      <div class="mx-auto w-full max-w-5xl px-8 pt-7 max-md:px-4 max-md:pt-5">
        <PageHeader title={t('code.title')} description={t('code.about')} />
      </div>
      <div class="mx-auto flex min-h-0 w-full max-w-5xl flex-1 flex-col px-8 max-md:px-4">
        <Show
          when={tasks.items.length > 0}
          fallback={
            <NothingYet answer={tasks} rows={6}>
              <EmptyState icon={GitBranch} title={t('code.empty')}>
                {t('code.emptyWhy')}
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
    </div>
  )
}
