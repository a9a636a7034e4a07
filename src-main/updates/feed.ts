import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { InstallKind } from '../contract/updates.ts'
import { canReplace } from './app-image.ts'

/** Where updates come from, and who signs them. */
export type UpdateFeed = {
  provider: { provider: 'github'; owner: string; repo: string } | { provider: 'generic'; url: string }
  /** Ed25519, SPKI, base64. */
  key: string
  allows: (url: URL) => boolean
  /** The page of a release, for people. */
  pageOf: (version: string) => string | null
}

/** GitHub redirects to these for the files of a release. */
const GITHUB_FILES = ['release-assets.githubusercontent.com', 'objects.githubusercontent.com']

const Key = z.base64().min(40).max(200)

/** The release build writes this into package.json: `updates: { repository: 'owner/name', key: '…' }`. */
const Packaged = z.object({
  updates: z.object({ repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/), key: Key }),
})

/** null: whoever built this app named no place for updates. */
export function packagedFeed(packageJson: string): UpdateFeed | null {
  const parsed = Packaged.safeParse(JSON.parse(readFileSync(packageJson, 'utf8')))
  if (!parsed.success) return null
  const { repository, key } = parsed.data.updates
  const [owner, repo] = repository.split('/') as [string, string]
  return {
    provider: { provider: 'github', owner, repo },
    key,
    allows: ({ protocol, hostname, port, pathname }) =>
      protocol === 'https:' &&
      port === '' &&
      ((hostname === 'github.com' && pathname.startsWith(`/${repository}/releases`)) || GITHUB_FILES.includes(hostname)),
    pageOf: (version) => `https://github.com/${repository}/releases/tag/v${version}`,
  }
}

/** A server on this machine, for tests of the app that is not packaged. */
export function localFeed({ url, key }: { url: string; key: string }): UpdateFeed {
  const { origin } = new URL(url)
  return {
    provider: { provider: 'generic', url },
    key,
    allows: (asked) => asked.origin === origin && asked.hostname === '127.0.0.1',
    pageOf: () => null,
  }
}

const LocalFeed = z.object({ url: z.string().regex(/^http:\/\/127\.0\.0\.1:\d+\/$/), key: Key })

/** Only for window tests: DECKHAND_TEST_UPDATES, as JSON. */
export function testFeed(text: string | undefined): UpdateFeed | null {
  return text === undefined ? null : localFeed(LocalFeed.parse(JSON.parse(text)))
}

/** How this app was installed. electron-builder puts a file `package-type` into .deb and .rpm. */
export function installKind(platform: NodeJS.Platform, resources: string, appImage: string | null): InstallKind {
  if (platform !== 'linux') return 'app'
  if (appImage !== null) return canReplace(appImage) ? 'app' : 'app_image'
  const file = join(resources, 'package-type')
  const type = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return type === 'deb' || type === 'rpm' ? type : 'archive'
}
