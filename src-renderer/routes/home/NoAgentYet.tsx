import Bot from 'lucide-solid/icons/bot'
import { words } from '../../kit/words/words.ts'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Panel } from '../../ui/Panel.tsx'

export function NoAgentYet() {
  const text = () => words().home.composer
  return (
    <Panel>
      <EmptyState
        icon={Bot}
        title={text().noAgent}
        action={
          <>
            <ButtonLink href="/welcome" variant="primary">
              {text().setUp}
            </ButtonLink>
            <ButtonLink href="/agents/new">{text().createAgent}</ButtonLink>
          </>
        }
      >
        {text().noAgentWhy}
      </EmptyState>
    </Panel>
  )
}
