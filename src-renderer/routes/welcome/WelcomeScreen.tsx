import { Screen } from '../../ui/Screen.tsx'

export function WelcomeScreen() {
  return <Screen>…</Screen>
}
