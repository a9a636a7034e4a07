/**
 * Where version managers and installers put what a program needs to run, below the home. A `*` stands for one name.
 * A program elsewhere is shown as a single file.
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
  // Other languages
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

/** The self-contained folder that a path lies in; null: none. Both are relative to the home. */
export function selfContainedRoot(path: string): string | null {
  const parts = path.split('/')
  const fits = (pattern: readonly string[]) =>
    parts.length > pattern.length && pattern.every((name, at) => name === '*' || name === parts[at])
  const pattern = SELF_CONTAINED.find(fits)
  return pattern === undefined ? null : parts.slice(0, pattern.length).join('/')
}

/** Homebrew's other folders hold the data and the settings of services. */
export const HOMEBREW_PARTS = ['bin', 'sbin', 'lib', 'libexec', 'share', 'opt', 'Cellar', 'etc/ca-certificates', 'etc/openssl@3']

/** The parts of Homebrew on Linux that a program in it needs; empty: the path is not Homebrew's. */
export function homebrewParts(path: string, home: string): string[] {
  const prefix = ['/home/linuxbrew/.linuxbrew', `${home}/.linuxbrew`].find((folder) => path.startsWith(`${folder}/`))
  return prefix === undefined ? [] : HOMEBREW_PARTS.map((part) => `${prefix}/${part}`)
}

/** Programs that start others need these places too, and a variable, since the sandbox has another home. */
export const COMPANIONS: readonly { folder: string; needs: readonly string[]; env: Readonly<Record<string, string>> }[] = [
  {
    folder: '.cargo/bin',
    // rustup requires the last one before it starts anything.
    needs: ['.rustup/toolchains', '.rustup/settings.toml', '.rustup/update-hashes'],
    env: { RUSTUP_HOME: '.rustup' },
  },
  { folder: '.volta/bin', needs: ['.volta/tools', '.volta/layout.v4'], env: { VOLTA_HOME: '.volta' } },
  { folder: '.local/share/pnpm', needs: ['.local/share/pnpm/global'], env: {} },
  { folder: 'Library/pnpm', needs: ['Library/pnpm/global'], env: {} },
]

/** Where people's programs are, in order: below the home, or absolute. A `*` stands for each name there, a `^` for the newest version. */
export const PROGRAM_FOLDERS = [
  '.local/bin',
  'bin',
  '.nvm/versions/node/^/bin',
  '.local/share/fnm/aliases/default/bin',
  '.fnm/aliases/default/bin',
  'Library/Application Support/fnm/aliases/default/bin',
  '.volta/bin',
  '.nodenv/versions/^/bin',
  '.local/share/pnpm',
  'Library/pnpm',
  '.bun/bin',
  '.deno/bin',
  '.npm-global/bin',
  '.pyenv/versions/^/bin',
  '.cargo/bin',
  'go/bin',
  '.local/go/bin',
  '.goenv/versions/^/bin',
  '.rbenv/versions/^/bin',
  '.ghcup/bin',
  '.local/share/mise/installs/*/^/bin',
  '.asdf/installs/*/^/bin',
  '.sdkman/candidates/*/current/bin',
  '.linuxbrew/bin',
  '/home/linuxbrew/.linuxbrew/bin',
]

/** Shims start a version manager, which needs its settings. The programs behind them are in the folders above. */
export const SHIM_FOLDERS = ['.local/share/mise/shims', '.asdf/shims', '.pyenv/shims', '.rbenv/shims', '.nodenv/shims', '.goenv/shims']

/** Folders of settings, which are never shown even if PATH names them, besides secret places. */
export const NEVER_SHOWN = [
  '.cache',
  '.config',
  '.git',
  '.local/share/Trash',
  '.local/state',
  '.vscode',
  'snap',
  'Library/Application Support',
  'Library/Preferences',
]

/** Programs that a model may look for, in the order in which the prompt lists those that are installed. */
export const WELL_KNOWN = [
  'git',
  'gh',
  'glab',
  'node',
  'npm',
  'npx',
  'pnpm',
  'yarn',
  'bun',
  'deno',
  'python3',
  'uv',
  'pipx',
  'cargo',
  'rustc',
  'go',
  'java',
  'mvn',
  'gradle',
  'ruby',
  'php',
  'dotnet',
  'make',
  'cmake',
  'gcc',
  'curl',
  'jq',
  'rg',
  'sqlite3',
  'ffmpeg',
  'pandoc',
]
