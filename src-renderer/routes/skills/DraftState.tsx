import LoaderCircle from 'lucide-solid/icons/loader-circle'
import { type JSX, Show } from 'solid-js'
import type { SkillDraft } from '../../../src-runner/contract/skills.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'

/** While the agent writes a skill, and when it wrote none. */
export function DraftState(props: { draft: SkillDraft; onByHand: () => void }): JSX.Element {
  const job = () => (
    <ButtonLink size="sm" href={`/jobs/${props.draft.jobId}`}>
      {t('skills.draft.openJob')}
    </ButtonLink>
  )
  return (
    <Show
      when={props.draft.status === 'writing'}
      fallback={
        <ErrorState
          problem={{ title: t('skills.draft.failed'), why: t('skills.draft.failedWhy') }}
          actions={
            <>
              {job()}
              <Button size="sm" onClick={() => props.onByHand()}>
                {t('skills.draft.byHand')}
              </Button>
            </>
          }
        />
      }
    >
      <div
        role="status"
        class="flex min-h-48 flex-col items-center justify-center gap-3 rounded-xl border border-line bg-surface p-6 text-center"
      >
        <LoaderCircle size={26} class="animate-spin text-ink-3" aria-hidden="true" />
        <p class="text-md font-medium text-ink">{t('skills.draft.writing')}</p>
        <p class="max-w-md text-sm text-ink-2">{t('skills.draft.writingWhy')}</p>
        {job()}
      </div>
    </Show>
  )
}
