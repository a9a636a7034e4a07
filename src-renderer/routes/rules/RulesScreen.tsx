import { A } from '@solidjs/router'
import ChevronLeft from 'lucide-solid/icons/chevron-left'
import type { JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { RulesPanel } from '../../features/rules/RulesPanel.tsx'
import { Simulator } from '../../features/rules/Simulator.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'

/** The rules, and the simulator. */
export function RulesScreen(): JSX.Element {
  return (
    <Screen width="narrow">
      <A href="/approvals" class="-ml-1 mb-3 inline-flex items-center gap-1 rounded-md px-1 text-xs text-ink-3 hover:text-ink">
        <ChevronLeft size={14} aria-hidden="true" />
        {t('approvals.title')}
      </A>
      <PageHeader title={t('rules.title')} description={t('rules.intro')} />
      <div class="flex flex-col gap-5">
        <RulesPanel agent={null} />
        <Simulator />
      </div>
    </Screen>
  )
}
