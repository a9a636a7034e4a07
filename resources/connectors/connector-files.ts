import airtable from './airtable.json' with { type: 'json' }
import apiKey from './api-key.json' with { type: 'json' }
import atlassian from './atlassian.json' with { type: 'json' }
import basicAuth from './basic-auth.json' with { type: 'json' }
import discord from './discord.json' with { type: 'json' }
import dropbox from './dropbox.json' with { type: 'json' }
import genericOauth2 from './generic-oauth2.json' with { type: 'json' }
import github from './github.json' with { type: 'json' }
import gitlab from './gitlab.json' with { type: 'json' }
import gmail from './gmail.json' with { type: 'json' }
import googleCalendar from './google-calendar.json' with { type: 'json' }
import googleDrive from './google-drive.json' with { type: 'json' }
import headerAuth from './header-auth.json' with { type: 'json' }
import hubspot from './hubspot.json' with { type: 'json' }
import linear from './linear.json' with { type: 'json' }
import microsoft365 from './microsoft-365.json' with { type: 'json' }
import notion from './notion.json' with { type: 'json' }
import slack from './slack.json' with { type: 'json' }
import spotify from './spotify.json' with { type: 'json' }
import todoist from './todoist.json' with { type: 'json' }

/** The catalogue, one file a connector: by name, the general ones last. They are parsed where they are used. */
export const CONNECTOR_FILES: readonly unknown[] = [
  airtable,
  atlassian,
  discord,
  dropbox,
  github,
  gitlab,
  gmail,
  googleCalendar,
  googleDrive,
  hubspot,
  linear,
  microsoft365,
  notion,
  slack,
  spotify,
  todoist,
  apiKey,
  basicAuth,
  headerAuth,
  genericOauth2,
]
