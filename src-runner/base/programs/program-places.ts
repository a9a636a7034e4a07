/**
 * Where programs keep what they need to run, by whom they were installed with. All paths lie in the person's home; a `*`
 * stands for one name. What is not named here is shown as the one file that it is.
 */
const SELF_CONTAINED = [
  // Node.js
  '.nvm/versions/node/*',
  '.local/share/fnm/node-versions/*/installation',
  '.fnm/node-versions/*/installation',
  'Library/Application Support/fnm/node-versions/*/installation',
  '.volta/tools/image',
  '.nodenv/versions/*',
  '.local/share/pnpm/global',
  'Library/pnpm/global',
  '.bun/install/global',
  '.npm-global/lib/node_modules',
  '.local/lib/node_modules',
  // Python
  '.local/share/pipx/venvs/*',
  '.local/pipx/venvs/*',
  '.local/share/uv/tools/*',
  '.local/share/uv/python/*',
  '.pyenv/versions/*',
  'miniconda3',
  'anaconda3',
  'miniforge3',
  'mambaforge',
  // Of all languages
  '.local/share/mise/installs/*/*',
  '.asdf/installs/*/*',
  '.sdkman/candidates/*/*',
  '.local/share/gem/ruby/*',
  '.gem/ruby/*',
  '.rbenv/versions/*',
  '.goenv/versions/*',
  '.local/go',
  'sdk/*',
  '.ghcup/ghc/*',
  '.rustup/toolchains/*',
].map((pattern) => pattern.split('/'))

/** Homebrew on Linux. What services keep in its other folders is nobody's business. */
const HOMEBREW = ['/home/linuxbrew/.linuxbrew', '.linuxbrew']
const HOMEBREW_PARTS = ['bin', 'sbin', 'lib', 'libexec', 'share', 'opt', 'Cellar', 'etc/ca-certificates', 'etc/openssl@3']

/** The folder in the home that makes a program run, told from the program's own place. Both without the home itself. */
export function selfContainedRoot(place: string): string | null {
  const parts = place.split('/')
  const fits = (pattern: readonly string[]) =>
    parts.length > pattern.length && pattern.every((name, at) => name === '*' || name === parts[at])
  const pattern = SELF_CONTAINED.find(fits)
  return pattern === undefined ? null : parts.slice(0, pattern.length).join('/')
}

/** What of Homebrew a program needs that lies in it; empty: it is none of Homebrew's. `home`: real, as `path` is. */
export function homebrewParts(path: string, home: string): string[] {
  const prefix = HOMEBREW.map((folder) => (folder.startsWith('/') ? folder : `${home}/${folder}`)).find((folder) =>
    path.startsWith(`${folder}/`),
  )
  return prefix === undefined ? [] : HOMEBREW_PARTS.map((part) => `${prefix}/${part}`)
}

/** Programs that are but a door to others find them by a variable where the home is another one. */
export const COMPANIONS: readonly { folder: string; needs: readonly string[]; env: Readonly<Record<string, string>> }[] = [
  // rustup makes sure that its last folder is there before it starts anything.
  {
    folder: '.cargo/bin',
    needs: ['.rustup/toolchains', '.rustup/settings.toml', '.rustup/update-hashes'],
    env: { RUSTUP_HOME: '.rustup' },
  },
  { folder: '.volta/bin', needs: ['.volta/tools', '.volta/layout.v4'], env: { VOLTA_HOME: '.volta' } },
  { folder: '.local/share/pnpm', needs: ['.local/share/pnpm/global'], env: {} },
  { folder: 'Library/pnpm', needs: ['Library/pnpm/global'], env: {} },
]

/**
 * Folders of doors that read a person's settings to know what they lead to. Those stay closed, so what was chosen is
 * looked up outside, and its own folder takes the place of the doors.
 */
export type Shims =
  | { folder: string; chosenBy: 'file'; file: string; installs: string; lineNames: 'tool and versions' | 'version' }
  | { folder: string; chosenBy: 'program'; program: string; args: readonly string[] }
export const SHIMS: readonly Shims[] = [
  { folder: '.local/share/mise/shims', chosenBy: 'program', program: 'mise', args: ['bin-paths'] },
  { folder: '.asdf/shims', chosenBy: 'file', file: '.tool-versions', installs: '.asdf/installs', lineNames: 'tool and versions' },
  { folder: '.pyenv/shims', chosenBy: 'file', file: '.pyenv/version', installs: '.pyenv/versions', lineNames: 'version' },
  { folder: '.rbenv/shims', chosenBy: 'file', file: '.rbenv/version', installs: '.rbenv/versions', lineNames: 'version' },
  { folder: '.nodenv/shims', chosenBy: 'file', file: '.nodenv/version', installs: '.nodenv/versions', lineNames: 'version' },
  { folder: '.goenv/shims', chosenBy: 'file', file: '.goenv/version', installs: '.goenv/versions', lineNames: 'version' },
]

/** Where settings are. Like places that hold keys, nothing in them is ever shown, whatever PATH says. */
export const NEVER_SHOWN = [
  ...['.cache', '.config', '.git', '.local/share/Trash', '.local/state', '.m2', '.terraform.d', '.thunderbird', '.vscode', 'snap'],
  ...['Library/Application Support', 'Library/Preferences'],
]

/** Names that a model might guess at, in the order in which it is told of those that are there. */
export const WELL_KNOWN = [
  ...['git', 'gh', 'glab', 'node', 'npm', 'npx', 'pnpm', 'yarn', 'bun', 'deno', 'python3', 'uv', 'pipx', 'cargo', 'rustc', 'go'],
  ...['java', 'mvn', 'gradle', 'ruby', 'php', 'dotnet', 'make', 'cmake', 'gcc', 'curl', 'jq', 'rg', 'sqlite3', 'ffmpeg', 'pandoc'],
]
