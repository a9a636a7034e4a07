import { describe, expect, it } from 'vitest'
import { secretValuesOf } from './server-secrets.ts'

describe('the values of an MCP server', () => {
  it.each([
    ['GITHUB_TOOLSETS', 'issues,pull_requests'],
    ['AWS_PROFILE', 'default'],
    ['AWS_REGION', 'us-east-1'],
    ['API_URL', 'https://api.example.com:8443/v1'],
    ['NOTES', '/home/ada/My Notes'],
    ['NOTES', 'C:\\Users\\Ada'],
    ['JIRA_USERNAME', 'ada.lovelace@example.com'],
    ['X-MCP-Toolsets', 'repos,issues'],
  ])('are shown if they are clearly no secret: %s=%s', (name, value) => {
    expect(secretValuesOf({ [name]: value })).toEqual([])
  })

  it.each([
    ['API_KEY', 'default'],
    ['PGPASSWORD', 'hunter'],
    ['GITHUB_PAT', 'issues'],
    ['Authorization', 'Bearer plain'],
    ['ANYTHING', 'kX7Qm2vR9tLpZ4wN'],
    ['ANYTHING', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
    ['ANYTHING', 'ghp_plain'],
    ['ANYTHING', 'ada:hunter'],
    ['ANYTHING', 'a sentence, which is longer than the settings of a server usually are, can be a phrase of words'],
    ['DATABASE_URL', 'postgres://ada:hunter@db.example.com/shop'],
    ['DATABASE_URL', 'postgres://hunter@db.example.com/shop'],
    ['API_URL', 'https://api.example.com/?id=plain'],
    ['SLACK_URL', 'https://hooks.slack.com/services/T0A1B2C3/B0A1B2C3/kX7Qm2vR9tLpZ4wN'],
  ])('are secret otherwise: %s=%s', (name, value) => {
    expect(secretValuesOf({ [name]: value })).toEqual([value])
  })
})
