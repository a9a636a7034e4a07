import { Route, Router } from '@solidjs/router'
import { lazy } from 'solid-js'
import { ApiProvider } from './api/ApiProvider.tsx'
import { SessionProvider } from './api/SessionProvider.tsx'
import { DesktopProvider } from './platform/DesktopProvider.tsx'
import { HomeScreen } from './routes/home/HomeScreen.tsx'
import { linkToken } from './routes/sign-in/one-time-link.ts'
import { SignInScreen } from './routes/sign-in/SignInScreen.tsx'
import { SETTINGS_SECTIONS } from './routes/settings/sections.ts'
import { NotFound } from './shell/NotFound.tsx'
import { Shell } from './shell/Shell.tsx'

const ActivityScreen = lazy(() => import('./routes/activity/ActivityScreen.tsx').then((file) => ({ default: file.ActivityScreen })))
const AgentScreen = lazy(() => import('./routes/agents/AgentScreen.tsx').then((file) => ({ default: file.AgentScreen })))
const AgentsScreen = lazy(() => import('./routes/agents/AgentsScreen.tsx').then((file) => ({ default: file.AgentsScreen })))
const ApprovalsScreen = lazy(() => import('./routes/approvals/ApprovalsScreen.tsx').then((file) => ({ default: file.ApprovalsScreen })))
const AutomationsScreen = lazy(() =>
  import('./routes/automations/AutomationsScreen.tsx').then((file) => ({ default: file.AutomationsScreen })),
)
const NewTriggerScreen = lazy(() =>
  import('./routes/automations/webhooks/NewTriggerScreen.tsx').then((file) => ({ default: file.NewTriggerScreen })),
)
const ScheduleEditScreen = lazy(() =>
  import('./routes/automations/schedules/ScheduleEditScreen.tsx').then((file) => ({ default: file.ScheduleEditScreen })),
)
const ScheduleScreen = lazy(() =>
  import('./routes/automations/schedules/ScheduleScreen.tsx').then((file) => ({ default: file.ScheduleScreen })),
)
const TriggerScreen = lazy(() =>
  import('./routes/automations/webhooks/TriggerScreen.tsx').then((file) => ({ default: file.TriggerScreen })),
)
const ChannelsScreen = lazy(() => import('./routes/channels/ChannelsScreen.tsx').then((file) => ({ default: file.ChannelsScreen })))
const ConnectionsScreen = lazy(() =>
  import('./routes/connections/ConnectionsScreen.tsx').then((file) => ({ default: file.ConnectionsScreen })),
)
const CodeScreen = lazy(() => import('./routes/code/CodeScreen.tsx').then((file) => ({ default: file.CodeScreen })))
const CredentialScreen = lazy(() =>
  import('./routes/connections/CredentialScreen.tsx').then((file) => ({ default: file.CredentialScreen })),
)
const McpServerScreen = lazy(() =>
  import('./routes/connections/mcp/McpServerScreen.tsx').then((file) => ({ default: file.McpServerScreen })),
)
const SkillsScreen = lazy(() => import('./routes/skills/SkillsScreen.tsx').then((file) => ({ default: file.SkillsScreen })))
const SkillScreen = lazy(() => import('./routes/skills/SkillScreen.tsx').then((file) => ({ default: file.SkillScreen })))
const EditSkillScreen = lazy(() => import('./routes/skills/EditSkillScreen.tsx').then((file) => ({ default: file.EditSkillScreen })))
const ChatScreen = lazy(() => import('./routes/chat/ChatScreen.tsx').then((file) => ({ default: file.ChatScreen })))
const JobScreen = lazy(() => import('./routes/job/JobScreen.tsx').then((file) => ({ default: file.JobScreen })))
const ModelsScreen = lazy(() => import('./routes/models/ModelsScreen.tsx').then((file) => ({ default: file.ModelsScreen })))
const RulesScreen = lazy(() => import('./routes/rules/RulesScreen.tsx').then((file) => ({ default: file.RulesScreen })))
const SettingsScreen = lazy(() => import('./routes/settings/SettingsScreen.tsx').then((file) => ({ default: file.SettingsScreen })))
const UsageScreen = lazy(() => import('./routes/usage/UsageScreen.tsx').then((file) => ({ default: file.UsageScreen })))
const WelcomeScreen = lazy(() => import('./routes/welcome/WelcomeScreen.tsx').then((file) => ({ default: file.WelcomeScreen })))

/** `needsSignIn`: in a browser of `local-auth`. */
export function App(props: { needsSignIn: boolean }) {
  return (
    <DesktopProvider>
      <SessionProvider
        inApp={window.deckhand !== undefined}
        isNeeded={props.needsSignIn}
        hasLink={() => linkToken() !== null}
        signIn={(why) => <SignInScreen {...why} />}
      >
        <ApiProvider>
          <Router root={Shell}>
            <Route path="/" component={HomeScreen} />
            <Route path="/chat/:conversationId?" component={ChatScreen} />
            <Route path="/approvals/:approvalId?" component={ApprovalsScreen} />
            <Route path="/rules" component={RulesScreen} />
            <Route path="/activity" component={ActivityScreen} />
            <Route path="/jobs/:jobId" component={JobScreen} />
            <Route path="/automations/:tab?" matchFilters={{ tab: ['webhooks', 'schedules'] }} component={AutomationsScreen} />
            <Route path="/automations/webhooks/new" component={NewTriggerScreen} />
            <Route path="/automations/webhooks/:triggerId" component={TriggerScreen} />
            <Route path="/automations/schedules/new" component={ScheduleEditScreen} />
            <Route path="/automations/schedules/:scheduleId" component={ScheduleScreen} />
            <Route path="/automations/schedules/:scheduleId/edit" component={ScheduleEditScreen} />
            <Route path="/agents" component={AgentsScreen} />
            <Route path="/agents/:agentId" component={AgentScreen} />
            <Route path="/channels" component={ChannelsScreen} />
            <Route path="/code" component={CodeScreen} />
            <Route path="/connections" component={ConnectionsScreen} />
            <Route path="/connections/:credentialId" component={CredentialScreen} />
            <Route path="/connections/mcp/:mcpServerId" component={McpServerScreen} />
            <Route path="/skills" component={SkillsScreen} />
            <Route path="/skills/new" component={EditSkillScreen} />
            <Route path="/skills/:skillId" component={SkillScreen} />
            <Route path="/skills/:skillId/edit" component={EditSkillScreen} />
            <Route path="/models" component={ModelsScreen} />
            <Route path="/usage" component={UsageScreen} />
            <Route path="/settings/:section?" matchFilters={{ section: [...SETTINGS_SECTIONS] }} component={SettingsScreen} />
            <Route path="/welcome" component={WelcomeScreen} />
            <Route path="*" component={NotFound} />
          </Router>
        </ApiProvider>
      </SessionProvider>
    </DesktopProvider>
  )
}
