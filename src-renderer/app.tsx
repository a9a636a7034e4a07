import { Route, Router } from '@solidjs/router'
import { lazy } from 'solid-js'
import { ApiProvider } from './api/ApiProvider.tsx'
import { DesktopProvider } from './platform/DesktopProvider.tsx'
import { HomeScreen } from './routes/home/HomeScreen.tsx'
import { NotFound } from './shell/NotFound.tsx'
import { Shell } from './shell/Shell.tsx'

const ModelsScreen = lazy(() => import('./routes/models/ModelsScreen.tsx').then((file) => ({ default: file.ModelsScreen })))
const SettingsScreen = lazy(() => import('./routes/settings/SettingsScreen.tsx').then((file) => ({ default: file.SettingsScreen })))
const WelcomeScreen = lazy(() => import('./routes/welcome/WelcomeScreen.tsx').then((file) => ({ default: file.WelcomeScreen })))

export function App() {
  return (
    <DesktopProvider>
      <ApiProvider>
        <Router root={Shell}>
          <Route path="/" component={HomeScreen} />
          <Route path="/models" component={ModelsScreen} />
          <Route path="/settings" component={SettingsScreen} />
          <Route path="/welcome" component={WelcomeScreen} />
          <Route path="*" component={NotFound} />
        </Router>
      </ApiProvider>
    </DesktopProvider>
  )
}
