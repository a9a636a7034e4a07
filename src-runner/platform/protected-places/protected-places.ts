import { realpathSync } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, parse, resolve, sep } from 'node:path'
import { foldName, foldParts, matchOf, patternsOf, type Patterns } from './path-patterns.ts'
import { readSmallFile } from './small-file.ts'

/**
 * Two kinds of protected places, recognized by their path:
 *
 * - **Code places.** What is written there runs by itself later: when a terminal opens, when a person enters the folder, uses
 *   git or an editor, logs in, or pushes. Writing there is running code.
 * - **Secret places.** They hold keys and passwords. No agent reads, writes or lists them.
 *
 * Source files and recipes (`Makefile`, `package.json`, `conftest.py`) are neither: a person runs them by name, and replacing one
 * asks as overwriting. Exception: a make file that would be read instead of another one. `.gitattributes` and `.gitmodules` only
 * name what a git configuration defines. `.env` holds values, which no shell reads by itself.
 */

/** Protected anywhere. */
const CODE = [
  // Version control. `commondir` and `gitdir` in `.git` lead to hooks and configuration.
  '.git',
  '.hg',
  '.jj',
  '.gitconfig',
  '.hgrc',
  '.config/git',
  '.config/hg',
  '.config/jj',
  '.githooks',
  '.sl',
  '.pijul/config',
  '_darcs/prefs',
  // Editors and coding agents.
  '.vscode',
  '.vs',
  '.idea',
  '.fleet',
  '.zed',
  '.helix',
  '.devcontainer',
  '.devcontainer.json',
  '.gitpod.yml',
  '.idx',
  '.replit',
  '*.code-workspace',
  '*.sublime-project',
  '.externaltoolbuilders',
  '.dir-locals.el',
  '.dir-locals-2.el',
  '.vimrc',
  '.gvimrc',
  '.exrc',
  '.lvimrc',
  '.nvimrc',
  '.nvim.lua',
  '.vim',
  '.emacs',
  '.emacs.d',
  '.config/nvim',
  '.config/emacs',
  '.config/code/user',
  '.mcp.json',
  '.claude/settings*.json',
  '.claude/hooks',
  '.claude/commands',
  '.claude/agents',
  '.claude/skills',
  '.agents/skills',
  '.codex',
  '.gemini/settings.json',
  '.qwen/settings.json',
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  'crush.json',
  '.crush.json',
  '.cursor/mcp.json',
  '.cursor/hooks*',
  '.windsurf/hooks*',
  '.kiro/settings/mcp.json',
  '.kiro/hooks',
  '.roo/mcp.json',
  '.amazonq/mcp.json',
  '.junie/mcp',
  '.github/hooks',
  '.aider.conf.yml',
  // Shells, and what they or their prompts read when entering a folder.
  '.profile',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.bashrc',
  '.bashrc.d',
  '.zshenv',
  '.zshrc',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.zsh',
  '.oh-my-zsh',
  '.kshrc',
  '.mkshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.inputrc',
  '.aliases',
  '.config/fish',
  '.config/nushell',
  '.config/bash',
  '.config/zsh',
  '.config/powershell',
  'powershell/*profile.ps1',
  'windowspowershell/*profile.ps1',
  '.envrc',
  '.direnvrc',
  '.config/direnv',
  '.autoenv',
  '.autoenv.zsh',
  '.shadowenv.d',
  'mise/config*.toml',
  'mise.toml',
  'mise.*.toml',
  '.mise.toml',
  '.mise.*.toml',
  '.mise',
  '.config/mise',
  '.tmux.conf',
  '.config/tmux',
  '.screenrc',
  // Interpreters and package managers read these unasked.
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.yarn/plugins',
  '.yarn/releases',
  '.pnpmfile.cjs',
  '.pnpmfile.mjs',
  'bunfig.toml',
  '.cargo/config',
  '.cargo/config.toml',
  '.mvn',
  '.bundle',
  'pip.conf',
  'sitecustomize.py',
  'usercustomize.py',
  '.pythonrc',
  '.pdbrc',
  '.pdbrc.py',
  '.gdbinit',
  '.lldbinit',
  '.rprofile',
  '.irbrc',
  '.pryrc',
  '.psqlrc',
  '.sqliterc',
  '.curlrc',
  '.renviron',
  '.ghci',
  '.ocamlinit',
  '.iex.exs',
  '.erlang',
  // Logging in, and the desktop.
  '.config/autostart',
  '.config/autostart-scripts',
  '.config/systemd',
  '.local/share/systemd',
  '.config/environment.d',
  '.config/plasma-workspace',
  '.local/share/applications',
  '.local/share/dbus-1',
  '.local/share/kservices5',
  '.xinitrc',
  '.xsession',
  '.xsessionrc',
  '.xprofile',
  '.xsetup',
  '.pam_environment',
  '.ssh',
  'library/launchagents',
  'library/launchdaemons',
  'library/application scripts',
  'start menu/programs/startup',
  'autorun.inf',
  '.netrc.gpg',
  // Folders of PATH.
  '.local/bin',
  '.cargo/bin',
]
/** What a commit or a push runs, if it lies in the project itself. Packages bring their own, which nothing reads in DEPENDENCIES. */
const CODE_OF_PROJECTS = [
  '.husky',
  '.huskyrc*',
  '.lefthook',
  '.pre-commit-config.yaml',
  '.pre-commit-config.yml',
  '.overcommit.yml',
  ...['lefthook', 'lefthook-local', '.lefthook', '.lefthook-local'].flatMap((name) =>
    ['yml', 'yaml', 'toml', 'json', 'jsonc'].map((extension) => `${name}.${extension}`),
  ),
  '.github/workflows',
  '.github/actions',
  '.gitlab-ci.yml',
  '.gitlab',
  '.circleci',
  '.buildkite',
  '.forgejo/workflows',
  '.gitea/workflows',
  '.woodpecker',
  '.woodpecker.y*ml',
  '.drone.y*ml',
  '.drone.star',
  '.travis.yml',
  '.cirrus.yml',
  '.cirrus.star',
  'azure-pipelines*.y*ml',
  '.azure-pipelines',
  '.azuredevops',
  'jenkinsfile*',
  'bitbucket-pipelines.yml',
  'appveyor.yml',
  '.appveyor.yml',
  '.semaphore',
  '.teamcity',
  '.builds',
  '.build.yml',
  '.tekton',
  'buildspec.y*ml',
  'codemagic.yaml',
  'bitrise.yml',
  'cloudbuild.yaml',
  'cloudbuild.yml',
  'cloudbuild.json',
]
export const DEPENDENCIES = new Set([
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '.tox',
  'vendor',
  'target',
  'pods',
  'site-packages',
])
/** Protected only in a home. */
const CODE_OF_HOMES = ['bin', 'go/bin', 'library/services', 'library/scripts', 'library/preferences']
/**
 * Hidden files of a home are settings, and many name a program to start. A hidden folder that the person gave an agent is not
 * protected.
 */
const HIDDEN_OF_HOMES = ['.*', 'library', 'appdata']
const CODE_OF_SYSTEM = [
  'bin',
  'boot',
  'etc',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'sbin',
  'usr',
  'var/spool/cron',
  'private/etc',
  'nix/store',
]

/** Keys and passwords, protected anywhere. */
const SECRETS = [
  '.ssh',
  '.gnupg',
  '.password-store',
  '.netrc',
  '_netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  'library/keychains',
  '*.kdbx',
  '.config/op',
  '.config/bitwarden',
  '.config/bitwarden cli',
  '.config/sops/age',
  '.vault-token',
  '.bitcoin',
  '.ethereum/keystore',
  '.electrum',
  // Clouds and services.
  '.aws',
  '.azure',
  '.kube',
  '.config/gcloud',
  '.boto',
  '.s3cfg',
  '.oci',
  '.config/doctl',
  '.config/hcloud',
  '.config/scw',
  '.fly/config.yml',
  '.cloudflared',
  '.config/.wrangler',
  '.config/netlify',
  '.config/stripe',
  '.terraform.d',
  '.config/rclone',
  '.pulumi/credentials.json',
  '.kaggle/kaggle.json',
  '.databrickscfg',
  '.config/gh',
  '.config/hub',
  '.config/glab-cli',
  '.cache/huggingface/token',
  '.cache/huggingface/stored_tokens',
  // Coding agents.
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.local/share/opencode/auth.json',
  '.config/github-copilot',
  // Package managers, databases and other hosts.
  '.pypirc',
  '.config/pip',
  '.config/mise',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.local/share/uv/credentials',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.jupyter',
  '.conda/state',
  '.condarc',
  'conda-meta/state',
  '.composer/auth.json',
  '.config/composer/auth.json',
  '.config/containers/auth.json',
  '.pgpass',
  '.my.cnf',
  '.smbcredentials',
  '.vnc/passwd',
  '.config/filezilla',
  '.local/share/remmina',
  // Browsers, mail and chats.
  '.mozilla/firefox',
  '.thunderbird',
  '.config/chromium',
  '.config/google-chrome',
  '.config/bravesoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.config/opera',
  '.config/signal',
  '.config/slack',
  '.config/discord',
  '.local/share/telegramdesktop',
  'library/cookies',
  ...['google/chrome', 'bravesoftware', 'microsoft edge', 'vivaldi', 'chromium', 'firefox', 'signal', 'bitwarden'].map(
    (name) => `library/application support/${name}`,
  ),
  // What was typed.
  '.bash_history',
  '.zsh_history',
  '.zhistory',
  '.histfile',
  '.ash_history',
  '.local/share/fish/fish_history',
  '.local/share/atuin',
  '.config/nushell/history.txt',
  '.config/nushell/history.sqlite3',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
]
/** Protected only in a home. In a project these are ordinary files, and in the home of a code task its own login. */
const SECRETS_OF_HOMES = [
  '.docker',
  '.npmrc',
  '.mozilla',
  '.pki',
  '.pip',
  '.conda',
  '.config/jupyter',
  '.local/share/jupyter/runtime',
  '.gemini/oauth_creds.json',
  'library/mail',
  'library/messages',
  'library/safari',
]

/** Configuration in folders of programs, which may hold registry passwords and tokens. Programs run without it. */
const PROGRAM_SETTINGS = [
  ...SECRETS,
  ...SECRETS_OF_HOMES,
  'condarc',
  '.env',
  '.git',
  'npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  'pip.conf',
  'pip.ini',
  'gitconfig',
  '.gitconfig',
  'env_vars.sh',
  'etc/conda',
  'etc/jupyter',
  'jupyter*config.json',
  'jupyter*config.py',
  'conf/settings.xml',
  'conf/settings-security.xml',
  'gradle.properties',
  'init.gradle',
]

const PATTERNS = {
  code: patternsOf(CODE),
  codeOfProjects: patternsOf(CODE_OF_PROJECTS),
  codeOfHomes: patternsOf(CODE_OF_HOMES),
  hiddenOfHomes: patternsOf(HIDDEN_OF_HOMES),
  codeOfSystem: patternsOf(CODE_OF_SYSTEM),
  secrets: patternsOf(SECRETS),
  secretsOfHomes: patternsOf(SECRETS_OF_HOMES),
  settings: patternsOf(PROGRAM_SETTINGS),
}
const LAST_OF_SETTINGS = patternsOf(PROGRAM_SETTINGS.map((text) => text.split('/').at(-1)!))
const LAST_PARTS = patternsOf(
  [...CODE, ...CODE_OF_PROJECTS, ...CODE_OF_HOMES, ...HIDDEN_OF_HOMES, ...SECRETS, ...SECRETS_OF_HOMES].map((text) =>
    text.split('/').at(-1)!,
  ),
)
const LAST_WITH_STAR = anyOf(LAST_PARTS)
const LAST_OF_SETTINGS_WITH_STAR = anyOf(LAST_OF_SETTINGS)
const HOMES = patternsOf(['home/*', 'users/*', 'root', 'var/root'])

/** One expression, since a search tests every name. */
function anyOf(patterns: Patterns): RegExp {
  return new RegExp(patterns.open.map(([part]) => part!.source).join('|'), 'su')
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The secret place that a path lies in; null: none. */
export function secretPlaceOf(path: string): string | null {
  const parts = foldParts(path)
  return cut(path, matchOf(parts, PATTERNS.secrets) ?? matchInHome(parts, PATTERNS.secretsOfHomes))
}

/** Whether a real path lies in a secret place, or is the target of a link in one. */
export async function isSecretPlace(path: string): Promise<boolean> {
  if (secretPlaceOf(path) !== null) return true
  return (await linksOfHome()).some(({ link, target }) => isInside(target, path) && secretPlaceOf(link) !== null)
}

/** The protected place that a folder is or lies in; null: none. Such a folder cannot be given to an agent. */
export function placeAroundFolder(path: string): string | null {
  const parts = foldParts(path)
  return secretPlaceOf(path) ?? cut(path, matchAnywhere(parts))
}

/** The same for the working folder of a command. Also looks at the disk. */
export async function placeAroundPrograms({ path, folder }: Written): Promise<string | null> {
  const around = placeAroundFolder(path) ?? pathFolders().find((place) => isInside(place, path))
  return around ?? (isHiddenInHome(path, folder) ? path : repositoryAround(path))
}

/** Whether a path below a folder of programs is configuration that programs do not need. */
export function isProgramSetting(path: string): boolean {
  const last = foldName(path.slice(path.lastIndexOf(sep) + 1))
  if (!LAST_OF_SETTINGS.has(last) && !LAST_OF_SETTINGS_WITH_STAR.test(last)) return false
  return matchOf(foldParts(path), PATTERNS.settings) !== null
}

/** The code place that a path lies in, from its text alone; null: none. */
export function codePlaceOf(path: string): string | null {
  const parts = foldParts(path)
  return cut(path, matchAnywhere(parts) ?? matchAtRoot(parts))
}

/** A path that an agent would write, in the agent's folder. Both are real paths. */
export type Written = { path: string; folder: string }

/** Whether a file written there runs by itself later, from its text alone. */
export function runsByItself({ path, folder }: Written): boolean {
  const parts = foldParts(path)
  if (matchOf(parts, PATTERNS.code) !== null || matchInHome(parts, PATTERNS.codeOfHomes) !== null || matchAtRoot(parts) !== null)
    return true
  const end = matchOf(parts, PATTERNS.codeOfProjects)
  const isInProject = end !== null && !parts.slice(foldParts(folder).length, end).some((part) => DEPENDENCIES.has(part))
  return isInProject || isHiddenInHome(path, folder)
}

/**
 * Whether a file written there runs by itself later. Also looks at the disk: for repositories without a work tree, targets of
 * links in the home, and make files beside a new one.
 */
export async function isCodePlace({ path, folder }: Written): Promise<boolean> {
  if (runsByItself({ path, folder })) return true
  if ((await placesLedTo()).some((place) => isInside(place, path))) return true
  const looks = await Promise.all([isInRepository(path), isNamedByRepository(path), takesPlaceOfMakeFile(path)])
  return looks.includes(true)
}

/** Targets of links at code places of the home, folders of PATH, and what git runs in every repository. */
export async function placesLedTo(): Promise<string[]> {
  const links = (await linksOfHome()).filter(({ link }) => codePlaceOf(link) !== null || isHiddenInHome(link, homedir()))
  return [...links.map(({ target }) => target), ...pathFolders(), ...(await namedByConfigs(configsOfPerson(), homedir()))]
}

/** The secret places of a home without a `*`, whether they exist or not. */
export function secretsOfHome(home = homedir()): string[] {
  return [...SECRETS, ...SECRETS_OF_HOMES].filter((name) => !name.includes('*')).map((name) => join(home, name))
}

/** A quick test for many names: whether a protected place may end in it. */
export function mayEndPlace(name: string): boolean {
  const folded = foldName(name)
  return folded.startsWith('.') || LAST_PARTS.has(folded) || LAST_WITH_STAR.test(folded)
}

/** Hidden in a home, but not because the agent's own folder is. */
export function isHiddenInHome(path: string, folder: string): boolean {
  const end = matchInHome(foldParts(path), PATTERNS.hiddenOfHomes)
  return end !== null && end > foldParts(folder).length
}

/** With these, git treats a folder of any name as a repository and reads its configuration. */
const REPOSITORY = ['head', 'objects', 'refs', 'commondir'] as const

/** Also if the path itself would complete it. Two calls at once could, so every new HEAD counts. */
async function isInRepository(path: string): Promise<boolean> {
  if (foldName(basename(path)) === 'head') return true
  const found = await Promise.all(
    foldersAround(path).map((folder, at, all) => isRepository(folder, foldName(basename(all[at - 1] ?? path)))),
  )
  return found.includes(true)
}

/** Hooks may lie anywhere in a project, and a configuration may read another one. */
async function isNamedByRepository(path: string): Promise<boolean> {
  const named = await Promise.all(foldersAround(path).map(namedByWorkTree))
  return named.flat().some((place) => isInside(place, path))
}

/** For a folder that may be a work tree: `.git` is the repository, or a file with its path. */
export async function namedByWorkTree(workTree: string): Promise<string[]> {
  const git = join(workTree, '.git')
  if (!(await isThere(git))) return []
  const elsewhere = /^gitdir: *(.+?)\s*$/.exec(await readSmallFile(git, MAX_CONFIG_BYTES))?.[1]
  return namedByRepository(elsewhere === undefined ? git : resolve(workTree, elsewhere), workTree)
}

/** The files and folders elsewhere that a repository runs or reads as configuration. */
export async function namedByRepository(repository: string, workTree: string): Promise<string[]> {
  const common = resolve(repository, (await readSmallFile(join(repository, 'commondir'), MAX_CONFIG_BYTES)).trim())
  const configs = [join(common, 'config'), join(repository, 'config'), join(repository, 'config.worktree'), ...configsOfPerson()]
  const named = await namedByConfigs(configs, workTree)
  const hooks = await linksIn(join(common, 'hooks'))
  return [...named, ...hooks.map(({ target }) => target)]
}

/** For all repositories. */
function configsOfPerson(): string[] {
  return [
    join(homedir(), '.gitconfig'),
    join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'config'),
    '/etc/gitconfig',
  ]
}

async function namedByConfigs(configs: readonly string[], workTree: string): Promise<string[]> {
  const read = new Set<string>()
  const named: string[] = []
  for (const config of configs) named.push(...(await namedByConfig(config, { workTree, read })))
  return named
}

const MAX_CONFIG_BYTES = 256 * 1024
/** A limit for configurations that include each other. */
const MAX_CONFIGS = 30
const MAX_FOLDERS = 8
const SETTING = /^[ \t]*(?:\[.*?\])?[ \t]*([a-z][\w-]*)[ \t]*=[ \t]*(.*)$/gim
/** Their values are paths. Each of the others may be a command. */
const NAME_PATHS = ['hookspath', 'path', 'templatedir']
const NAME_TEXTS = ['attributesfile', 'excludesfile', 'ignorerevsfile', 'template']

/** Each path as written and as it really is. */
async function namedByConfig(config: string, { workTree, read }: { workTree: string; read: Set<string> }): Promise<string[]> {
  if (read.has(config) || read.size >= MAX_CONFIGS) return []
  read.add(config)
  const text = await readSmallFile(config, MAX_CONFIG_BYTES)
  // A program that `path` names.
  if (text.includes('\0')) return []
  const named: string[] = []
  for (const [, name, value] of text.replace(/\\\r?\n/g, '').matchAll(SETTING)) {
    const key = name!.toLowerCase()
    const isPath = NAME_PATHS.includes(key)
    const from = key === 'path' ? dirname(config) : workTree
    for (const path of isPath ? pathIn(value!, from) : NAME_TEXTS.includes(key) ? [] : filesIn(value!, from)) {
      if (!isPath && (await lstat(path).catch(() => null))?.isDirectory()) continue
      named.push(path, await realpath(path).catch(() => path))
      if (key === 'path') named.push(...(await namedByConfig(path, { workTree, read })))
    }
  }
  return named
}

function pathIn(value: string, from: string): string[] {
  const [, quoted, plain] = /^(?:"([^"]+)"|([^";#]+))/.exec(value) ?? []
  return quoted === undefined && plain === undefined ? [] : [resolve(from, atHome((quoted ?? plain!).trim()))]
}

/** The word after them is the folder in which the rest of a command runs. */
const GOES_TO = new Set(['cd', 'pushd', '-C', '--chdir', '--directory'])

/**
 * The words of a command that may be files of the project, seen from each folder that it goes to. Its first word without a slash is a
 * program from PATH. What a variable or a program returns counts as any of the folders: `$(git rev-parse --show-toplevel)/x`.
 */
function filesIn(value: string, workTree: string): string[] {
  const words = value.split(/[\s"'`;&|()<>!=\\]+/).filter((word) => word !== '' && word !== '--')
  const folders = [workTree]
  const placesOf = (word: string) => {
    const rest = /^(?:\$[^/]*)?(\/.+)$/.exec(atHome(word))?.[1]
    return [resolve(workTree, atHome(word)), ...folders.map((folder) => (rest === undefined ? resolve(folder, word) : join(folder, rest)))]
  }
  for (const [at, word] of words.entries())
    if (GOES_TO.has(words[at - 1] ?? '') && folders.length < MAX_FOLDERS) folders.push(...placesOf(word).slice(0, MAX_FOLDERS))
  const files = words.filter((word, at) => (word.includes('/') || (at > 0 && word.includes('.'))) && !/^\+?refs\/|:\/\//.test(word))
  return [...new Set(files.flatMap(placesOf))]
}

function atHome(path: string): string {
  return path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, homedir())
}

/** The repository without a work tree around a folder; null: none. */
async function repositoryAround(folder: string): Promise<string | null> {
  const folders = [folder, ...foldersAround(folder)]
  const found = await Promise.all(folders.map((one) => isRepository(one)))
  return folders.find((_, at) => found[at]) ?? null
}

function foldersAround(path: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(path); folder !== (folders.at(-1) ?? path); folder = dirname(folder)) folders.push(folder)
  return folders
}

/** `next`: the folded name of a file that would be created in it. */
export async function isRepository(folder: string, next?: string): Promise<boolean> {
  const has = async (name: string) => next === name || (await isThere(join(folder, name === 'head' ? 'HEAD' : name)))
  const [head, objects, refs, commonDir] = await Promise.all(REPOSITORY.map(has))
  return head! && (commonDir! || (objects! && refs!))
}

type Link = { link: string; target: string }

/** People link start-up files and keys in these to another folder. */
const LINKING_FOLDERS = ['', '.config', '.cargo', '.local/bin', '.local/share', '.m2', 'bin']
/** A search needs them for every file. */
const LINKS_CACHED_MS = 1_000
let knownLinks: { home: string; at: number; links: Promise<Link[]> } | null = null

function linksOfHome(): Promise<Link[]> {
  const [home, at] = [homedir(), performance.now()]
  if (knownLinks?.home !== home || at - knownLinks.at > LINKS_CACHED_MS) {
    const links = Promise.all(LINKING_FOLDERS.map((folder) => linksIn(join(home, folder)))).then((found) => found.flat())
    knownLinks = { home, at, links }
  }
  return knownLinks.links
}

/** Also dangling links. */
async function linksIn(folder: string): Promise<Link[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name))
  const targetOf = (link: string) => realpath(link).catch(async () => resolve(dirname(link), await readlink(link).catch(() => '.')))
  return Promise.all(links.map(async (link) => ({ link, target: await targetOf(link) })))
}

const MAKE_FILES = ['gnumakefile', 'makefile', 'bsdmakefile']

/** `make` reads the first one that exists, so a new one could replace the person's own. */
async function takesPlaceOfMakeFile(path: string): Promise<boolean> {
  const name = basename(path)
  if (!MAKE_FILES.includes(foldName(name))) return false
  const names = await readdir(dirname(path)).catch((): string[] => [])
  return !names.includes(name) && names.some((other) => MAKE_FILES.includes(foldName(other)))
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false) // prettier-ignore
}

function matchAnywhere(parts: readonly string[]): number | null {
  return matchOf(parts, PATTERNS.code) ?? matchOf(parts, PATTERNS.codeOfProjects) ?? matchInHome(parts, PATTERNS.codeOfHomes)
}

function matchAtRoot(parts: readonly string[]): number | null {
  return process.platform === 'win32' ? null : matchOf(parts, PATTERNS.codeOfSystem, 0)
}

/** In any home, since a folder of several homes may be opened. */
function matchInHome(parts: readonly string[], patterns: Patterns): number | null {
  const drive = process.platform === 'win32' ? 1 : 0
  const own = ownHomes().filter((home) => home.every((part, at) => part === parts[at])).map((home) => home.length) // prettier-ignore
  for (const end of new Set([...own, matchOf(parts, HOMES, drive)])) {
    const match = end === null || end >= parts.length ? null : matchOf(parts, patterns, end)
    if (match !== null) return match
  }
  return null
}

function ownHomes(): string[][] {
  const home = homedir()
  try {
    return [foldParts(home), foldParts(realpathSync(home))]
  } catch {
    return [foldParts(home)]
  }
}

/** Folders of PATH outside the system's. */
function pathFolders(): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.filter((folder) => isAbsolute(folder) && folder !== homedir() && folder !== parse(folder).root)
}

function cut(path: string, parts: number | null): string | null {
  if (parts === null) return null
  const pieces = path.split(/(?<=[\\/])/)
  let end = 0
  for (let named = 0; named < parts; end++) if (!/^[\\/]*$/.test(pieces[end]!)) named++
  return pieces.slice(0, end).join('').replace(/(.)[\\/]$/, '$1') // prettier-ignore
}
