import Bot from 'lucide-solid/icons/bot'
import { t } from '../../lib/language.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Panel } from '../../ui/Panel.tsx'

export function NoAgentYet() {
  return (
    <Panel>
      <EmptyState
        icon={Bot}
        title={t('home.composer.noAgent')}
        action={
          <>
            <ButtonLink href="/welcome" variant="primary">
              {t('home.composer.setUp')}
            </ButtonLink>
            <ButtonLink href="/agents/new">{t('home.composer.createAgent')}</ButtonLink>
          </>
        }
      >
        {t('home.composer.noAgentWhy')}
      </EmptyState>
    </Panel>
  )
}
